import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Observable, Subscription } from 'rxjs';
import type { KeptChanges, OverrideValues, RuleChange, RuleOverrideStore } from '../core/rule-override-store.ts';
import { describeError, show } from '../core/show.ts';
import type { LiveRules } from './live-rules.ts';
import { overrideFaults, valuesOf, type RuleOverride, type RuleOverrides } from './rule-override.ts';

/**
 * How long a change that an Observable tells may take until it has reached all processes, milliseconds. Only the
 * application knows: a minute is more than most take.
 */
const SPREAD_OF_OBSERVABLE_MS = 60_000;

interface Parts {
  readonly live: LiveRules;
  /** Undefined where changes are not kept. */
  readonly kept: RuleOverrideStore | undefined;
  /** Whole sets of overrides, one after another. */
  readonly given: Observable<RuleOverrides> | undefined;
  /** Milliseconds of this process. */
  readonly now: () => number;
}

/** What is kept of one rule. */
interface Kept {
  readonly version: number;
  readonly values: OverrideValues | undefined;
}

/** Takes in overrides from where they come from. Those that are kept win over those that the application gives. */
@Injectable()
export class RuleOverrideIntake implements OnApplicationShutdown {
  readonly #logger = new Logger('RateLimit');
  readonly #parts: Parts;
  readonly #kept = new Map<string, Kept>();
  readonly #rejected = new Map<string, string>();
  /** What the application gives, or gave before what has faults. */
  #given: ReadonlyMap<string, OverrideValues> = new Map();
  /** Of what it gives, what held last. */
  readonly #lastGood = new Map<string, OverrideValues>();
  #version = 0;
  #isStarting = true;
  #subscription: Subscription | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resolves when what is there already was taken in, or is not to be had soon. */
  async start(): Promise<void> {
    this.#subscription = this.#parts.given?.subscribe({
      next: (overrides) => this.#takeGiven(overrides),
      error: (error) =>
        this.#logger.error(`The Observable of overrides failed, the last ones stay: ${describeError(error)}`),
      complete: () => this.#logger.warn('The Observable of overrides completed: the last ones stay'),
    });
    await this.#parts.kept?.follow({
      changed: (kept) => this.#takeKept(kept),
      failed: (error) => this.#logger.error(`Overrides of rules: ${describeError(error)}. The last ones stay`),
    });
    this.#isStarting = false;
  }

  /** What is kept of a rule: its values undefined where they were cleared. */
  keptOf(name: string): Kept | undefined {
    return this.#kept.get(name);
  }

  /** Whether the application gives an override of this rule. */
  isGiven(name: string): boolean {
    return this.#given.has(name);
  }

  /** Keeps a change, for all processes. Undefined where changes are not kept. */
  get store(): RuleOverrideStore | undefined {
    return this.#parts.kept;
  }

  /** An override was rejected: told once in a row for the same reasons. */
  reject(name: string, faults: readonly string[]): void {
    const reasons = faults.join('; ');
    if (this.#rejected.get(name) === reasons) return;
    this.#rejected.set(name, reasons);
    this.#logger.error(`The override of the rule ${show(name)} was rejected: ${reasons}`);
  }

  async onApplicationShutdown(): Promise<void> {
    this.#subscription?.unsubscribe();
    await this.#parts.kept?.close();
  }

  #takeGiven(overrides: unknown): void {
    if (typeof overrides !== 'object' || overrides === null || Array.isArray(overrides)) {
      this.#logger.error(`Overrides must be an object with the names of rules, got ${show(overrides)}`);
      return;
    }
    const given = new Map<string, OverrideValues>();
    for (const [name, override] of Object.entries(overrides)) {
      const faults = overrideFaults(override);
      if (faults.length > 0) this.reject(name, faults);
      const values = faults.length > 0 ? this.#lastGood.get(name) : valuesOf(override as RuleOverride);
      if (values) given.set(name, values);
    }
    const gone = [...this.#given.keys()].filter((name) => !given.has(name));
    this.#given = given;
    for (const name of gone) this.#lastGood.delete(name);
    this.#apply([...gone, ...given.keys()], { at: this.#parts.now(), spreadMs: SPREAD_OF_OBSERVABLE_MS });
  }

  #takeKept({ version, changes }: KeptChanges): void {
    if (version < this.#version) {
      this.#logger.warn(`Redis lost overrides of rules (it was at version ${this.#version}, and is at ${version})`);
    }
    this.#version = version;
    const spreadMs = this.#parts.kept!.spreadMs;
    const now = this.#parts.now();
    for (const [name, ofRule] of changes) {
      // In their order, so that the windows of changes that this process missed are judged too.
      for (const { version: ofChange, values, ageMs } of this.#unseen(name, ofRule).toReversed()) {
        this.#kept.set(name, { version: ofChange, values });
        // Who was there decided by the rule before until now; who was not goes by the moment of the change.
        this.#apply([name], { at: this.#isStarting ? now - ageMs : now, spreadMs });
      }
    }
    const lost = [...this.#kept.keys()].filter((name) => !changes.has(name));
    for (const name of lost) this.#kept.delete(name);
    this.#apply(lost, { at: now, spreadMs });
  }

  /** Of the changes of a rule, those that this process does not know. A server that lost some begins with a lower version. */
  #unseen(name: string, ofRule: readonly RuleChange[]): readonly RuleChange[] {
    const kept = this.#kept.get(name);
    if (!kept) return ofRule;
    const isKnown = ({ version, values }: RuleChange): boolean =>
      version === kept.version && JSON.stringify(values) === JSON.stringify(kept.values);
    const unseen = ofRule.filter(({ version }) => version > kept.version);
    return unseen.length > 0 ? unseen : ofRule.slice(0, 1).filter((change) => !isKnown(change));
  }

  #apply(names: readonly string[], when: { readonly at: number; readonly spreadMs: number }): void {
    const { live } = this.#parts;
    const values = new Map(names.map((name) => [name, this.#kept.get(name)?.values ?? this.#given.get(name)]));
    const faults = live.change(values, when);
    for (const name of names) {
      const found = faults.get(name);
      const isOfGiven = !this.#kept.get(name)?.values;
      if (found) {
        this.reject(name, found);
        // What was kept may have been cleared, and what is given cannot take its place.
        if (isOfGiven) live.change(new Map([[name, this.#lastGood.get(name)]]), when);
      } else {
        this.#rejected.delete(name);
        if (isOfGiven && values.get(name)) this.#lastGood.set(name, values.get(name)!);
      }
    }
  }
}
