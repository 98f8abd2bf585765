import type { StoreFailureKind } from '../core/errors.ts';
import type { StoreForgotEvent } from '../core/store-event.ts';
import type { CircuitState, StoreHealth } from '../core/store-health.ts';

/**
 * The labels that measures have, by their Prometheus names, with their OpenTelemetry names. Identities are none of them:
 * the code of the application bounds how many values each label takes, and `RuleLabels` does where code makes rules up.
 */
export const LABELS = {
  rule: 'floodgate.rule',
  place: 'floodgate.place',
  outcome: 'floodgate.outcome',
  source: 'floodgate.source',
  kind: 'error.type',
  state: 'floodgate.circuit.state',
  extent: 'floodgate.loss.extent',
  direction: 'floodgate.step.direction',
  code: 'floodgate.warning.code',
} as const;

export type Label = keyof typeof LABELS;

/** One measure, by the conventions of OpenTelemetry: a dotted name, a unit of UCUM. */
export interface Instrument {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly labels: readonly Label[];
}

/** What is counted. */
export const COUNTERS = {
  decisions: {
    name: 'floodgate.decisions',
    unit: '{decision}',
    description:
      'Decisions: one for each rule that admitted a call or, where it was refused, for each that refused it.',
    labels: ['rule', 'place', 'outcome', 'source'],
  },
  nearLimitDecisions: {
    name: 'floodgate.near_limit.decisions',
    unit: '{decision}',
    description: 'Calls that were admitted and left a fifth of the limit or less.',
    labels: ['rule', 'place'],
  },
  storeFailures: {
    name: 'floodgate.store.failures',
    unit: '{failure}',
    description:
      'Times that the store could not decide: outages by their first failure, and failures of single requests.',
    labels: ['kind'],
  },
  memoryLosses: {
    name: 'floodgate.store.memory_losses',
    unit: '{loss}',
    description: 'Times that the store lost all, the latest or some of what it was told.',
    labels: ['extent'],
  },
  clockSteps: {
    name: 'floodgate.store.clock_steps',
    unit: '{step}',
    description: 'Times that the clock of the store stepped.',
    labels: ['direction'],
  },
  warnings: {
    name: 'floodgate.warnings',
    unit: '{warning}',
    description: 'Mistakes in how the store is set up, by the code that the log names them by.',
    labels: ['code'],
  },
} as const satisfies Record<string, Instrument>;

export type CounterName = keyof typeof COUNTERS;

/** How long decisions take; each rule counts, though rules that are decided together take their time together. */
export const DURATION = {
  name: 'floodgate.decision.duration',
  unit: 's',
  description: 'How long decisions took.',
  labels: ['source'],
  /** Seconds: from an answer in process to the longest deadline that anybody should choose. */
  buckets: [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
} as const satisfies Instrument & { readonly buckets: readonly number[] };

/** A value of a gauge, and of its label where it has one. */
export interface Reading {
  readonly value: number;
  readonly state?: CircuitState;
}

/** A measure that is read when somebody asks. */
export interface GaugeInstrument extends Instrument {
  /** How several applications of one process, or processes of a Node.js cluster, make one value. */
  readonly aggregator: 'min' | 'max' | 'sum';
  readonly read: (health: StoreHealth) => readonly Reading[];
}

const CIRCUIT_STATES: readonly CircuitState[] = ['closed', 'open', 'half-open'];

/** What is read. */
export const GAUGES = {
  storeAvailable: {
    name: 'floodgate.store.available',
    unit: '{store}',
    description: 'Whether the store decides (1), or failure policies do (0).',
    labels: [],
    aggregator: 'min',
    read: ({ state }) => [{ value: state === 'available' ? 1 : 0 }],
  },
  circuitState: {
    name: 'floodgate.store.circuit.state',
    unit: '{circuit}',
    description: 'Circuit breakers in each state; the store is not asked while one is open.',
    labels: ['state'],
    aggregator: 'sum',
    read: ({ circuit }) => CIRCUIT_STATES.map((state) => ({ state, value: state === circuit ? 1 : 0 })),
  },
  storeLatency: {
    name: 'floodgate.store.latency',
    unit: 's',
    description: 'How long the store takes for decisions lately, a moving average; absent before the first.',
    labels: [],
    aggregator: 'max',
    read: ({ latencyMs }) => (latencyMs === undefined ? [] : [{ value: latencyMs / 1_000 }]),
  },
} as const satisfies Record<string, GaugeInstrument>;

export type GaugeName = keyof typeof GAUGES;

const FAILURE_KINDS: Readonly<Record<StoreFailureKind, true>> = {
  timeout: true,
  connection: true,
  full: true,
  readonly: true,
  'out-of-memory': true,
  'no-permission': true,
  'wrong-type': true,
  'cluster-down': true,
  'cross-slot': true,
  loading: true,
  busy: true,
  overloaded: true,
  'circuit-open': true,
  unknown: true,
};
const LOSS_EXTENTS: Readonly<Record<StoreForgotEvent['extent'], true>> = { all: true, latest: true, some: true };

/** Counters that are there with 0 from the start, by the values of their label: what rises from nothing shows no rise. */
export const FROM_ZERO: readonly (readonly [CounterName, Label, readonly string[]])[] = [
  ['storeFailures', 'kind', Object.keys(FAILURE_KINDS)],
  ['memoryLosses', 'extent', Object.keys(LOSS_EXTENTS)],
  ['clockSteps', 'direction', ['forward', 'backward']],
];
