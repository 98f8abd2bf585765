import ipaddr from 'ipaddr.js';
import { clientAddress, networkBytes } from './client-address.ts';

/** The addresses whose first `bits` are those of `bytes`, which has zeros behind them: 4 bytes of IPv4, 16 of IPv6. */
interface AddressRange {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** What stands for IPv4 where it stands for a client, too. */
const IPV4_PREFIXES = ['::ffff:0:0', '64:ff9b::'].map((prefix) => ipaddr.parse(prefix).toByteArray().slice(0, 12));

/**
 * Addresses and ranges of them in CIDR notation (RFC 4632, section 3.1; RFC 4291, section 2.3). IPv4 in IPv6, mapped or
 * behind NAT64's well-known prefix, is IPv4, in entries as in clients.
 */
export class AddressList {
  readonly #addresses = new Set<string>();
  readonly #ipv4 = new Networks();
  readonly #ipv6 = new Networks();

  /** @throws TypeError for an entry that {@link addressEntryFault} finds a fault with */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const range = rangeOf(entry);
      if (typeof range === 'string') throw new TypeError(`${entry} ${range}`);
      const { bytes, bits } = range;
      if (bits === 8 * bytes.length) this.#addresses.add(textOf(bytes));
      else this.#networksOf(bytes).add(range);
    }
  }

  /** Whether an address, as the adapter reports it, is in the list; undefined for a text that is no address. */
  has(reported: string): boolean | undefined {
    const address = clientAddress(reported, 128);
    if (this.#addresses.has(address)) return true;
    if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined;
    const bytes = ipaddr.parse(address).toByteArray();
    return this.#networksOf(bytes).has(bytes);
  }

  #networksOf(bytes: readonly number[]): Networks {
    return bytes.length === 4 ? this.#ipv4 : this.#ipv6;
  }
}

/** Ranges of one length of address: one look-up for each number of bits that some range has. */
class Networks {
  readonly #byBits = new Map<number, Set<string>>();

  add({ bytes, bits }: AddressRange): void {
    const networks = this.#byBits.get(bits) ?? new Set();
    this.#byBits.set(bits, networks.add(bytes.join('.')));
  }

  has(bytes: readonly number[]): boolean {
    for (const [bits, networks] of this.#byBits) {
      if (networks.has(networkBytes(bytes, bits).join('.'))) return true;
    }
    return false;
  }
}

/** What is wrong with an entry, as the end of a sentence about it; undefined when it is fine. */
export function addressEntryFault(entry: unknown): string | undefined {
  const range = typeof entry === 'string' ? rangeOf(entry) : NO_ADDRESS;
  return typeof range === 'string' ? range : undefined;
}

const NO_ADDRESS = 'must be an IPv4 or IPv6 address or a range such as 203.0.113.0/24';

/** The range, or what is wrong with it. */
function rangeOf(entry: string): AddressRange | string {
  const [, address = '', length] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(entry) ?? [];
  if (!isPlain(address)) return NO_ADDRESS;
  const bytes = ipaddr.parse(address).toByteArray();
  const allBits = 8 * bytes.length;
  const bits = length === undefined ? allBits : Number(length);
  if (bits > allBits) return `must have a prefix of ${allBits} bits at most`;
  const network = networkBytes(bytes, bits);
  if (network.some((byte, i) => byte !== bytes[i])) {
    return `must have no bits set behind its prefix (${textOf(network)}/${bits}, or a longer prefix)`;
  }
  const isIPv4InIPv6 = bits >= 96 && IPV4_PREFIXES.some((prefix) => prefix.every((byte, i) => byte === bytes[i]));
  if (!isIPv4InIPv6) return { bytes, bits };
  // Lists of addresses that nobody should come from have these, and mean the packets, not the whole of IPv4.
  if (bits === 96) return 'must not mean all of IPv4 (if it is to, write 0.0.0.0/0)';
  return { bytes: bytes.slice(12), bits: bits - 96 };
}

/** Without zone, port and whatever else addresses come with, and without numbers that some read as octal. */
function isPlain(address: string): boolean {
  const { IPv4, IPv6 } = ipaddr;
  if (!address.includes(':')) return IPv4.isValidFourPartDecimal(address);
  const end = address.slice(address.lastIndexOf(':') + 1);
  return /^[\da-f:.]+$/i.test(address) && IPv6.isValid(address) && (!end.includes('.') || isPlain(end));
}

const textOf = (bytes: readonly number[]): string => ipaddr.fromByteArray([...bytes]).toString();
