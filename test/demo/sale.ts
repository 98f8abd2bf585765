import { setTimeout as sleep } from 'node:timers/promises';
import { bot, crowd, momentsOfTheSale, type Click, type Customer } from './scenario.ts';
import type { DatedAnswer, ShopClient, ShopRequest } from './shop-client.ts';
import type { Outcome, Visit } from './visit.ts';

const RIGHT_CODE = '246810';
const WRONG_CODE = '000000';
const LOG_IN_MS = 1_000;

/** Plays the sale: the customers log in, it opens, and every click comes at its moment. */
export class Sale {
  readonly visits: Visit[] = [];
  readonly #client: ShopClient;
  readonly #openedAt = performance.now() + LOG_IN_MS;
  readonly #tokens = new Map<Customer, string>();

  constructor(client: ShopClient) {
    this.#client = client;
  }

  /** Milliseconds since it opened. */
  get now(): number {
    return performance.now() - this.#openedAt;
  }

  async play(): Promise<void> {
    await Promise.all([...crowd, bot].map((customer) => this.#logIn(customer)));
    await Promise.all(
      momentsOfTheSale().map(async ({ at, clicks }) => {
        await sleep(Math.max(0, at - this.now));
        await Promise.all(clicks.map((click) => this.#click(click)));
      }),
    );
  }

  async #click(click: Click): Promise<void> {
    const { kind, customer } = click;
    await this.#visit(click, kind === 'order' ? this.#order(customer) : logIn(customer, WRONG_CODE));
  }

  async #logIn(customer: Customer): Promise<void> {
    const click: Click = { kind: 'log-in', by: customer === bot ? 'bot' : 'crowd', customer };
    const { status, body } = await this.#visit(click, logIn(customer, RIGHT_CODE));
    if (status === 200) this.#tokens.set(customer, (JSON.parse(body) as { data: string }).data);
  }

  #order(customer: Customer): ShopRequest {
    return { path: '/voucher-order/seckill/1', address: customer.address, token: this.#tokens.get(customer) };
  }

  async #visit({ kind, by, customer }: Click, request: ShopRequest): Promise<DatedAnswer> {
    const answer = await this.#client.send(request);
    const { status, body, sentAt, answeredAt } = answer;
    this.visits.push({
      kind,
      by,
      customer: customer.phone,
      address: customer.address,
      sentAt: sentAt - this.#openedAt,
      answeredAt: answeredAt - this.#openedAt,
      outcome: outcomeOf(kind, status),
      answer: status === undefined ? body : `status ${status}`,
    });
    return answer;
  }
}

const logIn = ({ phone, address }: Customer, code: string): ShopRequest => ({
  path: '/user/login',
  address,
  body: { phone, code },
});

/** What the limits of the shop had to say; a wrong code is a try that they admitted. */
function outcomeOf(kind: Visit['kind'], status: number | undefined): Outcome {
  if (status === 429) return 'refused';
  if (status === 503) return 'undecided';
  return status === 200 || (kind === 'log-in' && status === 401) ? 'admitted' : 'failed';
}
