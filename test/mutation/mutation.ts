/** One rule of the code broken on purpose. The tests named must turn red. */
export interface Mutation {
  /** What is taken away, for the report. */
  readonly takesAway: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Paths of tests, as the test command takes them. */
  readonly tests: string;
}
