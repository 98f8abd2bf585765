import type { StoreEvent } from '../core/store-event.ts';
import type { DecisionEvent } from '../nest/decision-event.ts';
import type { RateLimiter } from '../nest/rate-limiter.ts';
import type { RuleBook } from '../nest/rule-book.ts';
import { FROM_ZERO, type CounterName, type Label } from './instruments.ts';
import { RuleLabels } from './rule-labels.ts';

/** A metrics library. Labels are by the names that it has for them. */
export interface Instruments {
  /** What it calls the labels. */
  readonly names: Readonly<Record<Label, string>>;
  add(counter: CounterName, value: number, labels: Readonly<Record<string, string>>): void;
  recordDuration(seconds: number, labels: Readonly<Record<string, string>>): void;
}

/** Counts what one application decides and what its store tells, from `start` to `stop`. */
export class Measures {
  readonly #instruments: Instruments;
  readonly #rules: RuleLabels;
  readonly #stop: () => void;

  constructor(limiter: RateLimiter, rules: RuleBook, instruments: Instruments) {
    this.#instruments = instruments;
    this.#rules = new RuleLabels(rules.declared, instruments.names);
    this.#startFromZero();
    const subscription = limiter.decisions$.subscribe((event) => this.#onDecision(event));
    subscription.add(limiter.storeEvents$.subscribe((event) => this.#onStoreEvent(event)));
    this.#stop = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#stop();
  }

  #startFromZero(): void {
    const { names } = this.#instruments;
    for (const [counter, label, values] of FROM_ZERO) {
      for (const value of values) this.#instruments.add(counter, 0, { [names[label]]: value });
    }
  }

  #onDecision({ rule, place, outcome, source, isNearLimit, latencyMs }: DecisionEvent): void {
    const { names } = this.#instruments;
    const labels = this.#rules.of(rule, place);
    this.#instruments.add('decisions', 1, { ...labels, [names.outcome]: outcome, [names.source]: source });
    if (isNearLimit) this.#instruments.add('nearLimitDecisions', 1, labels);
    this.#instruments.recordDuration(latencyMs / 1_000, { [names.source]: source });
  }

  #onStoreEvent(event: StoreEvent): void {
    if (event.type === 'unavailable') this.#count('storeFailures', 'kind', event.error.kind);
    if (event.type === 'forgot') this.#count('memoryLosses', 'extent', event.extent);
    if (event.type === 'clock-stepped') this.#count('clockSteps', 'direction', event.byMs < 0 ? 'backward' : 'forward');
    if (event.type === 'warning') this.#count('warnings', 'code', event.code);
  }

  #count(counter: CounterName, label: Label, value: string): void {
    this.#instruments.add(counter, 1, { [this.#instruments.names[label]]: value });
  }
}
