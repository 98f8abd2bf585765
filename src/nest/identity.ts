import { createHash } from 'node:crypto';
import type { ExecutionContext } from '@nestjs/common';
import { describeError, show } from '../core/show.ts';
import { clientAddress } from '../transports/client-address.ts';
import type { Transport } from '../transports/transport.ts';
import type { Answers } from './answers.ts';
import type { KeyFunction } from './rate-limit-options.ts';
import type { Rule, RuleKind } from './rule.ts';

/** Who shares a budget. `anon-…` is the address of somebody who should have had another identity. */
export interface Identity {
  readonly kind: RuleKind | 'anon-user' | 'anon-key';
  readonly value: string;
}

/** What a rule does for a request without the identity that it asks for. */
export type AnonymousPolicy = 'ip' | 'deny' | 'skip';

export interface IdentitySettings {
  readonly ip: ((context: ExecutionContext) => string | undefined) | undefined;
  readonly user: KeyFunction | undefined;
  readonly ipv6Prefix: number;
  readonly anonymous: AnonymousPolicy;
}

/**
 * The request has no client address: its connection is gone, or is no network connection. Clients can bring that about,
 * so no failure policy lets it pass.
 */
export class MissingAddressError extends Error {
  override readonly name = 'MissingAddressError';
}

/** Tells who makes a request. */
export class Identifier {
  readonly #settings: IdentitySettings;
  readonly #transport: Transport;

  constructor(settings: IdentitySettings, transport: Transport) {
    this.#settings = settings;
    this.#transport = transport;
  }

  /** Whether a function of the module tells who this rule is about. */
  asksFor({ kind }: Rule): boolean {
    return kind === 'user' && this.#settings.user !== undefined;
  }

  /** The client's address, in the spelling of whoever reports it. @throws MissingAddressError */
  reportedAddress(context: ExecutionContext): string {
    const { ip } = this.#settings;
    const address = ip ? this.#ask(ip, context) : this.#transport.addressOf(context);
    if (typeof address === 'string' && address !== '') return address;
    throw new MissingAddressError(`the request has no client address, got ${show(address)}`);
  }

  /** The user, as USER rules know him; undefined when there is none, or not yet. */
  async user(context: ExecutionContext, answers: Answers): Promise<string | undefined> {
    return asUserId(await this.#user(context, answers));
  }

  /**
   * Undefined when the request has no such identity, or not yet. What is found but is no identity, such as the list
   * that a client sent in place of a text, is none either.
   *
   * @param answers there for `key` rules, and where {@link asksFor} says so
   * @throws MissingAddressError for an IP rule on a request without an address
   */
  async identify(rule: Rule, context: ExecutionContext, answers?: Answers): Promise<Identity | undefined> {
    const { kind, place } = rule;
    if (kind === 'method') return { kind, value: place };
    if (kind === 'ip') return { kind, value: this.#address(context) };
    const value =
      kind === 'key' ? asIdentity(await answers!.of(rule.key!)) : asUserId(await this.#user(context, answers));
    return value === undefined ? undefined : { kind, value };
  }

  /** Who somebody without the identity that a rule asks for is. @throws MissingAddressError */
  anonymous({ kind }: Rule, context: ExecutionContext): Identity {
    return { kind: kind === 'user' ? 'anon-user' : 'anon-key', value: this.#address(context) };
  }

  #address(context: ExecutionContext): string {
    return clientAddress(this.reportedAddress(context), this.#settings.ipv6Prefix);
  }

  #ask(ip: NonNullable<IdentitySettings['ip']>, context: ExecutionContext): unknown {
    try {
      return ip(context);
    } catch (cause) {
      throw new MissingAddressError(`identity.ip failed: ${describeError(cause)}`, { cause });
    }
  }

  #user(context: ExecutionContext, answers: Answers | undefined): unknown {
    if (this.#settings.user) return answers!.of(this.#settings.user);
    const user = this.#transport.userOf(context);
    if (typeof user !== 'object' || user === null) return undefined;
    const { id, sub, userId } = user as Record<string, unknown>;
    return [id, sub, userId].find((value) => value !== undefined && value !== null && value !== '');
  }
}

/** Objects are no identities: their usual text is the same for all of them, and a list of one reads as its element. */
function asIdentity(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  const isNumber = typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value));
  return isNumber ? String(value) : undefined;
}

/** Databases give ids as objects with a text of their own (an ObjectId). The application made them, not the client. */
function asUserId(value: unknown): string | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const hasText = isObject && typeof value.toString === 'function' && value.toString !== Object.prototype.toString;
  return hasText ? asIdentity((value.toString as () => unknown)()) : asIdentity(value);
}

/** Printable ASCII but for the characters with a meaning of their own: braces choose the slot, % marks a hash. */
const LITERAL = /^[!-$&-z|~]{1,64}$/;

/**
 * An identity as part of a key. What is long or not plainly printable is hashed, so that keys have a bounded length
 * and no identity can imitate another one, a separator or a hash.
 */
export const identityInKey = ({ kind, value }: Identity): string =>
  // UTF-16 keeps apart what UTF-8 would replace by one and the same character.
  `${kind}:${LITERAL.test(value) ? value : `%${createHash('sha256').update(value, 'utf16le').digest('base64url')}`}`;
