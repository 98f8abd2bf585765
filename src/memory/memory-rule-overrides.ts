import {
  CHANGES_KEPT,
  type ChangeListener,
  type OverrideValues,
  type RuleChange,
  type RuleOverrideStore,
} from '../core/rule-override-store.ts';

/** Overrides of this process, until it ends. */
export class MemoryRuleOverrides implements RuleOverrideStore {
  readonly spreadMs = 0;
  readonly #changes = new Map<string, readonly RuleChange[]>();
  #listener: ChangeListener | undefined;
  #version = 0;

  change(name: string, values: OverrideValues | undefined): Promise<void> {
    const version = ++this.#version;
    const change = { version, values, ageMs: 0 };
    this.#changes.set(name, [change, ...(this.#changes.get(name) ?? [])].slice(0, CHANGES_KEPT));
    this.#listener?.changed({ version, changes: this.#changes });
    return Promise.resolve();
  }

  follow(listener: ChangeListener): Promise<void> {
    this.#listener = listener;
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#listener = undefined;
    return Promise.resolve();
  }
}
