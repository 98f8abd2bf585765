import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { AddressList, addressEntryFault } from '../../src/transports/address-list.ts';

const NO_ADDRESS = 'must be an IPv4 or IPv6 address or a range such as 203.0.113.0/24';
const HOST_BITS = 'must have no bits set behind its prefix';
const ALL_IPV4 = 'must not mean all of IPv4 (if it is to, write 0.0.0.0/0)';

describe('a list of addresses', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.7', '203.0.113.7:49152', true],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.7', '::ffff:cb00:7107', true],
    ['203.0.113.7', '64:ff9b::203.0.113.7', true],
    ['203.0.113.7/32', '203.0.113.7', true],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['::FFFF:cb00:7107', '203.0.113.7', true],
    ['64:ff9b::203.0.113.7', '203.0.113.7', true],
    ['::ffff:203.0.113.0/120', '203.0.113.255', true],
    ['::ffff:203.0.113.0/120', '::ffff:203.0.114.0', false],
    ['64:ff9b::a00:0/104', '10.1.2.3', true],
    ['64:ff9b::a00:0/104', '11.1.2.3', false],
    ['203.0.113.0/24', '203.0.113.0', true],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.112.255', false],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.128/25', '203.0.113.127', false],
    ['203.0.113.128/25', '203.0.113.128', true],
    ['128.0.0.0/1', '255.255.255.255', true],
    ['128.0.0.0/1', '127.255.255.255', false],
    ['0.0.0.0/0', '198.51.100.1', true],
    ['0.0.0.0/0', '::ffff:198.51.100.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1', true],
    ['2001:DB8:0::1', '2001:db8::1', true],
    ['2001:db8::1', '[2001:db8::1]:443', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['fe80::1', 'fe80::1%eth0', true],
    ['2001:db8::/32', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', true],
    ['2001:db8::/32', '2001:db9::', false],
    ['2001:db8:1:2::/64', '2001:db8:1:2:3::1', true],
    ['2001:db8:1:2::/64', '2001:db8:1:3::1', false],
    ['2001:db8:8000::/33', '2001:db8:7fff::1', false],
    ['2001:db8::1.2.3.4', '2001:db8::102:304', true],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.7', false],
    ['::/0', '::ffff:203.0.113.7', false],
    ['::/96', '::1', true],
    ['64:ff9b::/64', '10.1.2.3', false],
    // No prefix of one family is that of the other.
    ['2001::/16', '32.1.0.0', false],
    ['32.0.0.0/8', '2001:db8::1', false],
  ])('of %s has %s: %s', (entry, address, isListed) => {
    expect(addressEntryFault(entry)).toBeUndefined();
    expect(new AddressList([entry]).has(address)).toBe(isListed);
  });

  it.each(['', 'unknown', 'unix:', '10.1', '203.0.113.007', '3405803783', '2001:db8:::1', '203.0.113.7, 10.0.0.1'])(
    'does not say of a client that it is in the list or not when what is reported is no address: %s',
    (reported) => {
      expect(new AddressList(['0.0.0.0/0', '::/0', '203.0.113.7']).has(reported)).toBeUndefined();
    },
  );

  it.each<[unknown, string]>([
    ['', NO_ADDRESS],
    ['localhost', NO_ADDRESS],
    ['*', NO_ADDRESS],
    ['10', NO_ADDRESS],
    ['10.1', NO_ADDRESS],
    ['10.0.0.0/8/8', NO_ADDRESS],
    ['10.0.0.*', NO_ADDRESS],
    ['10.0.0.1-10.0.0.9', NO_ADDRESS],
    ['10.0.0.256', NO_ADDRESS],
    ['010.0.0.1', NO_ADDRESS],
    ['10.0.0.01', NO_ADDRESS],
    ['0x0a.0.0.1', NO_ADDRESS],
    ['167772161', NO_ADDRESS],
    [' 10.0.0.1', NO_ADDRESS],
    ['10.0.0.1\n', NO_ADDRESS],
    ['10.0.0.1 ', NO_ADDRESS],
    ['10.0.0.1,10.0.0.2', NO_ADDRESS],
    ['10.0.0.1:80', NO_ADDRESS],
    ['[::1]', NO_ADDRESS],
    ['[::1]:80', NO_ADDRESS],
    ['::1%eth0', NO_ADDRESS],
    ['fe80::%eth0/10', NO_ADDRESS],
    ['::ffff:010.0.0.1', NO_ADDRESS],
    ['::ffff:0x0a.0.0.1', NO_ADDRESS],
    ['::ffff:10.1', NO_ADDRESS],
    ['1:2:3:4:5:6:7:8:9', NO_ADDRESS],
    ['2001:db8', NO_ADDRESS],
    [':', NO_ADDRESS],
    ['/8', NO_ADDRESS],
    ['10.0.0.0/', NO_ADDRESS],
    ['10.0.0.0/-1', NO_ADDRESS],
    ['10.0.0.0/08', NO_ADDRESS],
    ['10.0.0.0/8.5', NO_ADDRESS],
    ['10.0.0.0/0x8', NO_ADDRESS],
    ['10.0.0.0/255.0.0.0', NO_ADDRESS],
    ['10.0.0.0/ 8', NO_ADDRESS],
    ['10.0.0.0/1000', NO_ADDRESS],
    [167_772_161, NO_ADDRESS],
    [null, NO_ADDRESS],
    [undefined, NO_ADDRESS],
    [['10.0.0.1'], NO_ADDRESS],
    [{ toString: () => '10.0.0.1' }, NO_ADDRESS],
    ['10.0.0.0/33', 'must have a prefix of 32 bits at most'],
    ['2001:db8::/129', 'must have a prefix of 128 bits at most'],
    ['10.0.0.1/8', `${HOST_BITS} (10.0.0.0/8, or a longer prefix)`],
    ['10.0.0.1/0', `${HOST_BITS} (0.0.0.0/0, or a longer prefix)`],
    ['2001:db8::1/64', `${HOST_BITS} (2001:db8::/64, or a longer prefix)`],
    ['::ffff:10.0.0.1/104', HOST_BITS],
    ['::ffff:0:0/96', ALL_IPV4],
    ['64:ff9b::/96', ALL_IPV4],
    ['::ffff:0.0.0.0/96', ALL_IPV4],
  ])('does not take %j', (entry, fault) => {
    expect(addressEntryFault(entry)).toContain(fault);
  });

  it('is not made of entries that it does not take', () => {
    expect(() => new AddressList(['10.0.0.0/8', '10.0.0.1/8'])).toThrow(TypeError);
  });

  it('has what any of its entries has', () => {
    const list = new AddressList(['203.0.113.7', '10.0.0.0/8', '10.0.0.0/9', '192.168.0.0/16', '2001:db8::/32', '::1']);
    const addresses = ['203.0.113.7', '10.200.0.1', '192.168.9.9', '2001:db8::7', '::1', '::2', '203.0.113.6'];
    expect(addresses.map((address) => list.has(address))).toEqual([true, true, true, true, true, false, false]);
  });

  it('has nobody when it is empty', () => {
    expect(new AddressList([]).has('203.0.113.7')).toBe(false);
  });

  it('has an address exactly when it begins with the bits of a range', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const written = (address: Uint8Array) => ipaddr.fromByteArray([...address]).toString();
    const bits = (address: Uint8Array) => Array.from(address, (byte) => byte.toString(2).padStart(8, '0')).join('');
    const cases = fc
      .constantFrom(4, 16)
      .chain((length) => fc.tuple(bytes(length), fc.nat(8 * length), fc.nat(8 * length - 1)));
    fc.assert(
      fc.property(cases, ([address, prefix, flipped]) => {
        address[0] = 0x20; // clear of the ranges of IPv6 that stand for IPv4
        const other = Uint8Array.from(address, (byte, i) =>
          i === flipped >> 3 ? byte ^ (128 >> (flipped & 7)) : byte,
        );
        const network = Uint8Array.from(address, (byte, i) =>
          Number.parseInt(
            byte
              .toString(2)
              .padStart(8, '0')
              .slice(0, Math.max(0, prefix - 8 * i))
              .padEnd(8, '0'),
            2,
          ),
        );
        const list = new AddressList([`${written(network)}/${prefix}`]);
        expect(list.has(written(address))).toBe(true);
        expect(list.has(written(other))).toBe(bits(address).slice(0, prefix) === bits(other).slice(0, prefix));
      }),
    );
  });
});
