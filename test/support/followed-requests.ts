import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { of, throwError, type Observable } from 'rxjs';
import { callIds } from '../../src/core/call-id.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { outcomeInterceptor } from '../../src/nest/outcome-interceptor.ts';
import { OutcomeRefunds } from '../../src/nest/outcome-refunds.ts';
import type { RuleCharge } from '../../src/nest/rule-charges.ts';
import { RuleLog } from '../../src/nest/rule-log.ts';
import { HttpTransport } from '../../src/transports/http-transport.ts';

/** HTTP whose answers the test gives. */
class GivenAnswers extends HttpTransport {
  readonly #answers = new Map<unknown, (status: number | undefined) => void>();

  constructor() {
    super(() => undefined);
  }

  override followAnswer(context: ExecutionContext, answered: (status: number | undefined) => void): void {
    this.#answers.set(context.getArgByIndex(0), answered);
  }

  answer(context: ExecutionContext, status: number | undefined): void {
    this.#answers.get(context.getArgByIndex(0))?.(status);
  }
}

export const newId = callIds();
const seen = (context: ExecutionContext, handle: () => Observable<unknown>) =>
  outcomeInterceptor.intercept(context, { handle }) as Observable<unknown>;
const contextOfRequest = (): ExecutionContext => new ExecutionContextHost([{}, {}]);

/** Requests that are charged by this store, and end as the test says. */
export function followedRequests(store: RateLimitStore, deadlineMs = 50) {
  const transport = new GivenAnswers();
  const outcomes = new OutcomeRefunds({ store, transport, log: new RuleLog(), deadlineMs });

  /** One request, if it is admitted. */
  const request = async (charged: readonly RuleCharge[]) => {
    const id = newId();
    const asked = { id, charges: charged.map((each) => each.charge) };
    const decision = await store.consume(asked);
    if (!decision.allowed) return undefined;
    const context = contextOfRequest();
    const awaited = outcomes.follow(context, { request: asked, decision, charged, tookMs: 0 });
    return { id, charged, context, awaited, receipt: decision.receipt };
  };
  /** Lets the handler give a value or throw, or not be reached, and the answer be sent or not. */
  const end = (context: ExecutionContext, handler: 'value' | 'error' | 'none', status: number | undefined): void => {
    const handle = () => (handler === 'error' ? throwError(() => new Error('broken')) : of('fine'));
    if (handler !== 'none') seen(context, handle).subscribe({ error: () => undefined });
    transport.answer(context, status);
  };
  return { outcomes, request, end };
}
