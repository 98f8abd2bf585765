/** Rules in places that are told apart at most, besides the declared ones. */
const MAX_SETS = 1_000;
/** What all others are counted under. */
const OTHER = 'other';

/** The labels that say which rule decided. */
export type RuleLabelSet = Readonly<Record<string, string>>;

interface RuleAndPlace {
  readonly label: string;
  readonly place: string;
}

/**
 * The labels of rules and places, so many and no more: those of declared rules, and a thousand of rules that are given to
 * `RateLimiter`. An application may make these up as it runs, and then the others are counted together.
 */
export class RuleLabels {
  readonly #byRule = new Map<string, Map<string, RuleLabelSet>>();
  readonly #names: { readonly rule: string; readonly place: string };
  readonly #other: RuleLabelSet;
  #vacancies = MAX_SETS;

  /** @param names what the labels are called */
  constructor(declared: Iterable<RuleAndPlace>, names: { readonly rule: string; readonly place: string }) {
    this.#names = names;
    this.#other = this.#named(OTHER, OTHER);
    for (const { label, place } of declared) this.#add(label, place);
  }

  of(rule: string, place: string): RuleLabelSet {
    const known = this.#byRule.get(rule)?.get(place);
    if (known) return known;
    if (this.#vacancies === 0) return this.#other;
    this.#vacancies--;
    return this.#add(rule, place);
  }

  #add(rule: string, place: string): RuleLabelSet {
    const labels = this.#named(rule, place);
    const byPlace = this.#byRule.get(rule);
    if (byPlace) byPlace.set(place, labels);
    else this.#byRule.set(rule, new Map([[place, labels]]));
    return labels;
  }

  #named(rule: string, place: string): RuleLabelSet {
    return { [this.#names.rule]: rule, [this.#names.place]: place };
  }
}
