import { setTimeout as wait } from 'node:timers/promises';
import { Connection, getRequest } from '../http/connection.ts';
import { quantile } from '../statistics.ts';

export interface VisitFigures {
  readonly visits: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Visits at a steady rate. Every visit is by a new client, which asks twice: it is admitted once and refused once. */
export class Visits {
  readonly #url: URL;
  readonly #connections: readonly Connection[];
  #clients = 0;

  private constructor(url: URL, connections: readonly Connection[]) {
    this.#url = url;
    this.#connections = connections;
  }

  static async open(url: string, connections: number): Promise<Visits> {
    const target = new URL(url);
    return new Visits(target, await Promise.all(Array.from({ length: connections }, () => Connection.open(target))));
  }

  /** Times are from when a visit was due to its second answer: also when the visits before it took too long. */
  async run(forMs: number, perSecond: number): Promise<VisitFigures> {
    const total = Math.floor((forMs * perSecond) / 1_000);
    const beginsAt = performance.now();
    const timesMs: number[] = [];
    let begun = 0;
    const visitor = async (connection: Connection): Promise<void> => {
      while (begun < total) {
        const dueAt = beginsAt + (begun++ * 1_000) / perSecond;
        const early = dueAt - performance.now();
        if (early > 0) await wait(early);
        await this.#visit(connection);
        timesMs.push(performance.now() - dueAt);
      }
    };
    await Promise.all(this.#connections.map(visitor));
    const sorted = Float64Array.from(timesMs).sort();
    return { visits: total, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
  }

  async #visit(connection: Connection): Promise<void> {
    const request = getRequest(this.#url, { 'x-client': `client-${this.#clients++}` });
    const statuses = [await connection.send(request), await connection.send(request)];
    if (statuses.join() !== '200,429') throw new Error(`a new client was answered ${statuses.join(' and ')}`);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
