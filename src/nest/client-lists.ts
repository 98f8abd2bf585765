import { ForbiddenException, Logger, type ExecutionContext } from '@nestjs/common';
import { describeError, show } from '../core/show.ts';
import { AddressList } from '../transports/address-list.ts';
import { retryAfterHeader } from '../transports/rate-limit-headers.ts';
import type { Transport } from '../transports/transport.ts';
import type { Answers } from './answers.ts';
import {
  isJudgedLate,
  namesClients,
  type ClientList,
  type ClientListFunction,
  type ClientListOptions,
} from './client-list.ts';
import { MissingAddressError, type Identifier } from './identity.ts';
import { RateLimitUnavailableException, UNAVAILABLE_RETRY_MS } from './rate-limit-unavailable.exception.ts';
import { withoutStackTrace } from './without-stack-trace.ts';

const QUIET_MS = 60_000;

/** What a moment is of a request's: the only one is both. */
export interface ListMoment {
  /** Addresses are judged here. */
  readonly isFirst: boolean;
  /** The user is known here, if there is one. */
  readonly isLast: boolean;
}

interface List {
  readonly option: keyof ClientListOptions;
  readonly addresses: AddressList | undefined;
  readonly users: ReadonlySet<string> | undefined;
  readonly ask: ClientListFunction | undefined;
  /** What becomes of a request when its function fails. */
  readonly otherwise: string;
}

/** Who is denied, and for whom no rule of the module holds. */
export class ClientLists {
  /** Whether something is left to judge when the user is known. */
  readonly judgesLate: boolean;
  /** Whether that is so for a request that was allowed before, too. */
  readonly deniesLate: boolean;
  readonly #identifier: Identifier;
  readonly #transport: Transport;
  readonly #deny: List | undefined;
  readonly #allow: List | undefined;
  readonly #logger = new Logger('RateLimit');
  readonly #toldAt = new Map<List, number>();

  constructor({ allow, deny }: ClientListOptions, identifier: Identifier, transport: Transport) {
    this.#identifier = identifier;
    this.#transport = transport;
    this.#deny = listOf('deny', deny, 'not denied by it');
    this.#allow = listOf('allow', allow, 'limited as others are');
    this.deniesLate = isJudgedLate(deny);
    this.judgesLate = this.deniesLate || isJudgedLate(allow);
  }

  /**
   * Whether no rule is to judge this request.
   *
   * @throws as {@link refuseDenied}
   */
  async allows(context: ExecutionContext, answers: Answers, moment: ListMoment): Promise<boolean> {
    await this.refuseDenied(context, answers, moment);
    return this.#allow !== undefined && this.#names(this.#allow, context, answers, moment);
  }

  /**
   * @throws ForbiddenException for a request that is denied; RateLimitUnavailableException where addresses are, and it
   *   has none: clients can bring that about
   */
  async refuseDenied(context: ExecutionContext, answers: Answers, moment: ListMoment): Promise<void> {
    if (this.#deny && (await this.#names(this.#deny, context, answers, moment))) {
      throw withoutStackTrace(() => new ForbiddenException());
    }
  }

  async #names(list: List, context: ExecutionContext, answers: Answers, moment: ListMoment): Promise<boolean> {
    if (moment.isFirst && list.addresses && this.#hasAddress(list, list.addresses, context)) return true;
    try {
      if (list.ask) return await isTrue(answers.of(list.ask));
      if (!moment.isLast || !list.users) return false;
      const user = await this.#identifier.user(context, answers);
      return user !== undefined && list.users.has(user);
    } catch (error) {
      // Before the guards, a function may fail for want of what they find (`request.user.role`).
      if (moment.isLast)
        this.#tell(list, `${list.ask ? 'its function' : 'identity.user'} failed`, list.otherwise, error);
      return false;
    }
  }

  #hasAddress(list: List, addresses: AddressList, context: ExecutionContext): boolean {
    try {
      const address = this.#identifier.reportedAddress(context);
      const isListed = addresses.has(address);
      if (isListed !== undefined) return isListed;
      throw new MissingAddressError(`what is reported as the client's is no address, got ${show(address)}`);
    } catch (error) {
      if (list !== this.#deny) return false;
      this.#tell(list, 'it cannot be judged', 'refused as unavailable', error);
      this.#transport.publish(context, retryAfterHeader({ retryAfterMs: UNAVAILABLE_RETRY_MS }));
      throw new RateLimitUnavailableException(error);
    }
  }

  /** Once a minute, since clients choose how often it happens. */
  #tell(list: List, fault: string, outcome: string, error: unknown): void {
    const now = performance.now();
    if (now - (this.#toldAt.get(list) ?? -Infinity) < QUIET_MS) return;
    this.#toldAt.set(list, now);
    this.#logger.error(`option ${list.option}: ${fault}, the request is ${outcome}: ${describeError(error)}`);
  }
}

/** Undefined where they name nobody: requests then cost nothing more than without them. */
export function clientLists(
  options: ClientListOptions,
  identifier: Identifier,
  transport: Transport,
): ClientLists | undefined {
  const isNeeded = namesClients(options.allow) || namesClients(options.deny);
  return isNeeded ? new ClientLists(options, identifier, transport) : undefined;
}

function listOf(
  option: List['option'],
  list: ClientList | ClientListFunction | undefined,
  otherwise: string,
): List | undefined {
  if (!list || !namesClients(list)) return undefined;
  if (typeof list === 'function') return { option, otherwise, addresses: undefined, users: undefined, ask: list };
  const { addresses = [], users = [] } = list;
  return {
    option,
    otherwise,
    addresses: addresses.length > 0 ? new AddressList(addresses) : undefined,
    users: users.length > 0 ? new Set(users) : undefined,
    ask: undefined,
  };
}

/** What merely counts as true, such as a query that was not awaited, lets nobody through and keeps nobody out. */
async function isTrue(given: unknown): Promise<boolean> {
  const answer = await given;
  if (typeof answer === 'boolean') return answer;
  throw new TypeError(`it gave ${show(answer)}, not true or false`);
}
