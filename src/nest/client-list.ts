import type { ExecutionContext } from '@nestjs/common';
import { show } from '../core/show.ts';
import { addressEntryFault } from '../transports/address-list.ts';

/** Whom the module's `allow` or `deny` names: a request is named by its address or by its user. */
export interface ClientList {
  /**
   * IPv4 and IPv6 addresses, and ranges of them: `'203.0.113.7'`, `'2001:db8::/32'`. Compared with the whole address of
   * the client, found as for IP rules.
   */
  readonly addresses?: readonly string[];
  /** Users, as USER rules find them: by `id`, `sub` or `userId` of `request.user`, or by `identity.user`. */
  readonly users?: readonly string[];
}

/** True: the list names whoever makes this request. */
export type ClientListFunction = (context: ExecutionContext) => boolean | Promise<boolean>;

/** The options that are lists of clients. They hold for handlers that have rules. */
export interface ClientListOptions {
  /**
   * Whose requests no rule holds for: nothing is charged, and answers carry no header fields of ours. Addresses are
   * judged before the guards, users after them; a function is asked before them, and after them unless it said true.
   * One that fails allows nobody.
   * @default nobody
   */
  readonly allow?: ClientList | ClientListFunction;
  /**
   * Whose requests are refused with 403 (Nest's `ForbiddenException`) and charged nothing, also if `allow` names them.
   * Judged at the moments of `allow`. A function that fails denies nobody; where addresses are denied, a request without
   * one is refused with 503.
   * @default nobody
   */
  readonly deny?: ClientList | ClientListFunction;
}

const NAMES: readonly string[] = ['addresses', 'users'] satisfies (keyof ClientList)[];

const isSomething = (list: readonly unknown[] | undefined): boolean => Array.isArray(list) && list.length > 0;

/** Whether the list names users, who are known after the guards, or may do so. */
export const isJudgedLate = (list: ClientList | ClientListFunction | undefined): boolean =>
  typeof list === 'function' || isSomething(list?.users);

/** Whether the list may name anybody at all. */
export const namesClients = (list: ClientList | ClientListFunction | undefined): boolean =>
  isJudgedLate(list) || isSomething((list as ClientList | undefined)?.addresses);

/** What is wrong with a list: one sentence for each of its entries that is faulty. */
export function clientListFaults(option: keyof ClientListOptions, list: unknown): readonly string[] {
  if (list === undefined || typeof list === 'function') return [];
  const faults: string[] = [];
  const wrong = (place: string, value: unknown, rule: string): void => {
    faults.push(`option ${place} ${rule}, got ${show(value)}`);
  };
  if (typeof list !== 'object' || list === null || Array.isArray(list)) {
    wrong(option, list, 'must be an object of addresses and users, or a function of the context');
    return faults;
  }
  for (const [name, entries] of Object.entries(list) as [string, unknown][]) {
    const place = `${option}.${name}`;
    if (!NAMES.includes(name)) wrong(place, entries, `is no option (${NAMES.join(', ')})`);
    else if (Array.isArray(entries)) {
      for (const [i, entry] of entries.entries()) {
        const fault = name === 'users' ? userFault(entry) : addressEntryFault(entry);
        if (fault !== undefined) wrong(`${place}[${i}]`, entry, fault);
      }
    } else if (entries !== undefined) wrong(place, entries, `must be a list of ${name}`);
  }
  return faults;
}

const userFault = (entry: unknown): string | undefined =>
  typeof entry === 'string' && entry !== '' ? undefined : 'must be the id of a user, as a text that is not empty';
