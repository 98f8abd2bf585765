import { Injectable } from '@nestjs/common';
import type { OverrideValues } from '../core/rule-override-store.ts';
import type { Rule } from './rule.ts';
import { aloneInForce, MAX_FORMERS, NEVER, succeed, type RuleInForce } from './rule-succession.ts';

/** What is asked of the rules that are written. */
interface WrittenRules {
  named(name: string): readonly Rule[];
  /** The rule with these values, or undefined when `fault` was told what is wrong with it. */
  overridden(rule: Rule, values: OverrideValues, fault: (message: string) => void): Rule | undefined;
  /** Faults of the rules beside each other, if these stood in their places. */
  conflictsWith(inPlaceOf: (rule: Rule) => Rule): readonly string[];
  /** Told whenever other rules are in force. */
  follow(inForce: (written: Rule) => Rule): void;
}

/** When changes were made, milliseconds of this process, and how long it may take until they have reached everybody. */
interface When {
  readonly at: number;
  readonly spreadMs: number;
}

type Faults = readonly string[];

/** What holds in the places of those rules that were changed, or are changing. */
@Injectable()
export class LiveRules {
  readonly #written: WrittenRules;
  readonly #now: () => number;
  readonly #inForce = new Map<Rule, RuleInForce>();
  /** What was changed in a rule, by its name; JSON for comparison. */
  readonly #values = new Map<string, string>();
  #onChange = (): void => undefined;

  /** @param now milliseconds */
  constructor(written: WrittenRules, now: () => number = () => performance.now()) {
    this.#written = written;
    this.#now = now;
  }

  /** Rules that are, or are becoming, other than they are written. While there are none, nobody need ask for one. */
  get size(): number {
    return this.#inForce.size;
  }

  /** Has this called after each change that was made. */
  whenChanged(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Undefined where the rule holds as it is written. */
  of(written: Rule): RuleInForce | undefined {
    const inForce = this.#inForce.get(written);
    if (!inForce || (inForce.formers.length === 0 && inForce.heldUntil === NEVER)) return inForce;
    const now = this.#now();
    const lasts = (until: number): boolean => until > now;
    const { rule, formers, heldUntil } = inForce;
    if ((lasts(heldUntil) || heldUntil === NEVER) && formers.every(({ until }) => lasts(until))) return inForce;
    this.#install(written, {
      rule,
      formers: formers.filter(({ until }) => lasts(until)),
      heldUntil: lasts(heldUntil) ? heldUntil : NEVER,
    });
    return this.#inForce.get(written);
  }

  /** The values that were put in the place of those that are written. */
  valuesOf(name: string): OverrideValues | undefined {
    const values = this.#values.get(name);
    return values === undefined ? undefined : (JSON.parse(values) as OverrideValues);
  }

  /** What is wrong with making this change now, if anything is. */
  faultsIn(name: string, values: OverrideValues | undefined): Faults {
    const faults = new Map<string, Faults>();
    const next = this.#compile(new Map([[name, values]]), faults);
    const isOneMore = ([written, { windowMs }]: readonly [Rule, Rule]): boolean => {
      const { rule, formers } = this.#current(written);
      const windows = new Set([rule, ...formers.map((former) => former.rule)].map((each) => each.windowMs));
      return windows.size > MAX_FORMERS && !windows.has(windowMs);
    };
    return faults.get(name) ?? ([...next].some(isOneMore) ? [TOO_MANY_WINDOWS] : []);
  }

  /**
   * Puts these values in the place of those that are written, or those again where there are none. What has faults is
   * left as it was; changes of rules that share a bucket stand or fall together.
   *
   * @returns the faults, by the names of the rules
   */
  change(
    changes: ReadonlyMap<string, OverrideValues | undefined>,
    { at, spreadMs }: When,
  ): ReadonlyMap<string, Faults> {
    const news = new Map([...changes].filter(([name, values]) => toText(values) !== this.#values.get(name)));
    const faults = new Map<string, Faults>();
    for (const group of this.#together(news)) {
      for (const [written, next] of this.#compile(group, faults)) {
        this.#install(written, succeed(this.#current(written), next, at, spreadMs));
      }
    }
    for (const [name, values] of news) {
      const text = toText(values);
      if (faults.has(name)) continue;
      if (text === undefined) this.#values.delete(name);
      else this.#values.set(name, text);
    }
    if (news.size > 0) this.#written.follow((written) => this.#inForce.get(written)?.rule ?? written);
    if (news.size > faults.size) this.#onChange();
    return faults;
  }

  #current(written: Rule): RuleInForce {
    return this.of(written) ?? aloneInForce(written);
  }

  #install(written: Rule, inForce: RuleInForce): void {
    const { rule, formers, heldUntil } = inForce;
    if (rule === written && formers.length === 0 && heldUntil === NEVER) this.#inForce.delete(written);
    else this.#inForce.set(written, inForce);
  }

  /** The rules that come in the places of those that are written, or none if one of the changes has faults. */
  #compile(
    changes: ReadonlyMap<string, OverrideValues | undefined>,
    faults: Map<string, Faults>,
  ): ReadonlyMap<Rule, Rule> {
    const next = new Map<Rule, Rule>();
    const found: string[] = [];
    for (const [name, values] of changes) {
      const rules = this.#written.named(name);
      if (rules.length === 0 && values) found.push(`no rule is named ${JSON.stringify(name)}`);
      for (const rule of rules) {
        // Nobody knows for how long its windows would have to be judged besides.
        if (values && 'window' in values && typeof rule.windowMs === 'function')
          found.push(`${rule.writtenOn}: window is a function, so it cannot be overridden`);
        const compiled = values ? this.#written.overridden(rule, values, (fault) => found.push(fault)) : rule;
        if (compiled) next.set(rule, compiled);
      }
    }
    if (found.length === 0) {
      found.push(...this.#written.conflictsWith((rule) => next.get(rule) ?? this.#inForce.get(rule)?.rule ?? rule));
    }
    if (found.length === 0) return next;
    for (const name of changes.keys()) faults.set(name, [...new Set(found)]);
    return new Map();
  }

  /** The changes of one bucket at a time: its rules agree in their window. */
  #together(
    changes: ReadonlyMap<string, OverrideValues | undefined>,
  ): Iterable<ReadonlyMap<string, OverrideValues | undefined>> {
    const groups = new Map<string, Map<string, OverrideValues | undefined>>();
    for (const [name, values] of changes) {
      const [rule] = this.#written.named(name);
      const budget = rule?.isBucket ? rule.place : `name ${name}`;
      const group = groups.get(budget) ?? new Map<string, OverrideValues | undefined>();
      groups.set(budget, group.set(name, values));
    }
    return groups.values();
  }
}

const TOO_MANY_WINDOWS =
  `${MAX_FORMERS + 1} windows of it are judged beside each other already, since it was changed so often: ` +
  'wait until the longest of them has passed';

const toText = (values: OverrideValues | undefined): string | undefined => values && JSON.stringify(values);
