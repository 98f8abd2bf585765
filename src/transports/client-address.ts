import ipaddr from 'ipaddr.js';

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * One spelling for each client: without port and zone, IPv4 in IPv6 as IPv4 (mapped, or behind NAT64's well-known
 * prefix, RFC 6052 section 2.1), IPv6 as the network of `ipv6Prefix` bits that its owner can choose addresses in. What is no address stays as it is, so that it does not share a budget.
 */
export function clientAddress(reported: string, ipv6Prefix: number): string {
  // As most requests have it, by a socket for both versions or for one.
  const plain = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/.exec(reported)?.[1];
  if (plain !== undefined && ipaddr.IPv4.isValidFourPartDecimal(plain)) return plain;
  const text = reported
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
    .replace(/%.*$/s, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!ipaddr.IPv6.isValid(text)) return reported;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return address.toString();
  if (address.match(NAT64)) return ipaddr.fromByteArray(address.toByteArray().slice(12)).toString();
  if (ipv6Prefix === 128) return address.toString();
  const network = networkBytes(address.toByteArray(), ipv6Prefix);
  return `${ipaddr.fromByteArray(network).toString()}/${ipv6Prefix}`;
}

/** The first `bits` of an address, and zeros behind them. */
export const networkBytes = (address: readonly number[], bits: number): number[] =>
  address.map((byte, i) => byte & networkMask(bits - 8 * i));

/** The mask of one byte of which the first `bits` belong to the network. */
const networkMask = (bits: number): number => (bits >= 8 ? 0xff : bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff);
