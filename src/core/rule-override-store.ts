/** Values that options of a rule have instead of those of the code. */
export type OverrideValues = Readonly<Record<string, unknown>>;

/** One change of a rule. */
export interface RuleChange {
  /** Counts the changes of all rules that are kept together. */
  readonly version: number;
  /** Undefined: since then the rule is that of the code. */
  readonly values: OverrideValues | undefined;
  /** Milliseconds since it was made, by the clock of whoever keeps it. */
  readonly ageMs: number;
}

/** The changes that are kept: a number for each state of them, and for each rule by its name the last, latest first. */
export interface KeptChanges {
  readonly version: number;
  readonly changes: ReadonlyMap<string, readonly RuleChange[]>;
}

/** Who is told of changes. */
export interface ChangeListener {
  /** All that is kept, when it is known first and when it is other than it was. */
  readonly changed: (kept: KeptChanges) => void;
  /** It cannot be read, or is nothing that can be understood: what was told last stays. Not told twice in a row. */
  readonly failed: (error: unknown) => void;
}

/** Where overrides of rules are kept. */
export interface RuleOverrideStore {
  /** A change has reached everybody who follows after so many milliseconds. */
  readonly spreadMs: number;
  /**
   * Keeps a change, and has it told, here too before it resolves.
   * @throws StoreUnavailableError when it may not have been kept
   */
  change(name: string, values: OverrideValues | undefined): Promise<void>;
  /** Tells of what is kept, from now on. Resolves when that is known first, or is not to be had soon. */
  follow(listener: ChangeListener): Promise<void>;
  /** Lets go of what it opened. */
  close(): Promise<void>;
}

/** So many changes of one rule are kept: those that matter while the windows of them all pass. */
export const CHANGES_KEPT = 8;
