import type { Answers } from './answers.ts';

/** The options that are numbers. */
export type NumberOption = 'window' | 'limit' | 'cost';

/** A number of a rule (milliseconds for `window`), or what finds it for a request and checks it. */
export type RuleNumber = number | ((answers: Answers) => number | Promise<number>);

export type ParsedNumber = { readonly value: number } | { readonly fault: string };

/** What is wrong with an option, or with a part of it. */
export interface NumberFault {
  /** Which it is: `limit`, or `limit of tier "free"`. */
  readonly what: string;
  readonly value: unknown;
  /** What would be right: "must be …". */
  readonly rule: string;
}
