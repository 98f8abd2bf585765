import type { KeptChanges, OverrideValues, RuleChange } from '../core/rule-override-store.ts';
import { show } from '../core/show.ts';

/** What `override-rule.lua` wrote, as it was read. */
export interface RuleDocument extends KeptChanges {
  /** Names this very document. */
  readonly tag: string;
}

/** Nothing was kept, or it was lost. */
const NO_CHANGES: RuleDocument = { tag: '', version: 0, changes: new Map() };

const PARTS = /^1 ((\d+)\.\S+) (.*)$/s;

/**
 * @param reply of `read-rules.lua` or `override-rule.lua`
 * @returns undefined when the document is the one that the caller knows
 * @throws TypeError for what this version of the library does not understand
 */
export function parseRuleDocument(reply: unknown): RuleDocument | undefined {
  const [now, document] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  if (document === '') return undefined;
  if (document === null || document === undefined) return NO_CHANGES;
  const [, tag, version, text] = (typeof document === 'string' && PARTS.exec(document)) || [];
  if (tag === undefined) throw notUnderstood(document);
  return { tag, version: Number(version), changes: new Map(changesIn(text!, Number(now))) };
}

function changesIn(text: string, now: number): readonly (readonly [string, readonly RuleChange[]])[] {
  const found = Object.entries(asObject(parseJson(text)));
  return found.map(([name, changes]) => {
    if (!Array.isArray(changes)) throw notUnderstood(changes);
    return [name, changes.map((change) => changeOf(change, now))];
  });
}

function changeOf(change: unknown, now: number): RuleChange {
  const [version, at, values] = Array.isArray(change) ? (change as readonly unknown[]) : [];
  if (!Number.isInteger(version) || !Number.isFinite(at) || typeof values !== 'string') throw notUnderstood(change);
  return {
    version: version as number,
    values: values === '' ? undefined : asObject(parseJson(values)),
    // The clock of the server may step back.
    ageMs: Math.max(0, now - (at as number)),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notUnderstood(text);
  }
}

function asObject(value: unknown): OverrideValues {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notUnderstood(value);
  return value as OverrideValues;
}

const notUnderstood = (value: unknown): TypeError =>
  new TypeError(`the overrides in Redis are not understood by this version of Floodgate: ${show(value)}`);
