import type { Answers } from './answers.ts';
import type { Identity } from './identity.ts';
import type { Rule } from './rule.ts';
import type { FormerRule } from './rule-succession.ts';

/** A rule that is not enforced for the identity of a request. */
export interface Spared {
  readonly rule: Rule;
  readonly identity: Identity;
  /** The rules whose place it took, while their windows pass. */
  readonly formers?: readonly FormerRule[];
}

/** What one moment knows of a request, for whatever is judged at it. */
export interface KnownMoment {
  /** Shared, so that functions are asked once. */
  readonly answers: Answers;
  /** Takes the rules that are not enforced for the identity that the request has, where some may not be. */
  readonly spared?: Spared[];
}

/** For the rules that are enforced and those in shadow. */
export type ShadowMoment = Required<KnownMoment>;
