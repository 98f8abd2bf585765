import type { StoreUnavailableError } from './errors.ts';

/** A change in what the store can do, or something about it that will do harm: each told once. */
export type StoreEvent =
  StoreUnavailableEvent | StoreAvailableEvent | StoreForgotEvent | StoreClockEvent | StoreWarningEvent;

/** The store cannot decide; failure policies do. */
export interface StoreUnavailableEvent {
  /** Tells the events apart. */
  readonly type: 'unavailable';
  /** What is in the way. */
  readonly error: StoreUnavailableError;
}

/** The store decides again. */
export interface StoreAvailableEvent {
  /** Tells the events apart. */
  readonly type: 'available';
}

/** The store lost what it was told, so that limits may be exceeded until a window has passed. */
export interface StoreForgotEvent {
  /** Tells the events apart. */
  readonly type: 'forgot';
  /** `all`: it began anew. `latest`: another server took over, which may lack the last charges. `some`: it evicted keys. */
  readonly extent: 'all' | 'latest' | 'some';
  /** What tells so. */
  readonly message: string;
}

/** The clock of the store stepped: forwards, windows ended so much early; backwards, they may last so much longer. */
export interface StoreClockEvent {
  /** Tells the events apart. */
  readonly type: 'clock-stepped';
  /** Milliseconds; negative for a step back. */
  readonly byMs: number;
}

/** Mistakes in how a store is set up, by the code that the log and the README name them by. */
export type StoreWarningCode = 'FLOODGATE_EVICTING_REDIS' | 'FLOODGATE_OLD_REDIS' | 'FLOODGATE_CLIENT_OPTIONS';

/** The store decides, but is set up in a way that limits will suffer from. */
export interface StoreWarningEvent {
  /** Tells the events apart. */
  readonly type: 'warning';
  /** Which mistake it is. */
  readonly code: StoreWarningCode;
  /** What is wrong, with the setting and its value, and what would be right. */
  readonly message: string;
}
