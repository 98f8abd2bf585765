import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { clientAddress } from '../../src/transports/client-address.ts';

describe('the address of a client', () => {
  it.each([
    ['IPv4', '203.0.113.7', '203.0.113.7'],
    ['IPv4 with a port', '203.0.113.7:49152', '203.0.113.7'],
    ['IPv4 between spaces', ' 203.0.113.7 ', '203.0.113.7'],
    ['IPv4 in brackets', '[203.0.113.7]:80', '203.0.113.7'],
    ['IPv4 in IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
    ['IPv4 in IPv6, upper case', '::FFFF:203.0.113.7', '203.0.113.7'],
    ['IPv4 in IPv6, in hexadecimal', '::ffff:cb00:7107', '203.0.113.7'],
    ['IPv4 in IPv6, in full', '0000:0000:0000:0000:0000:ffff:cb00:7107', '203.0.113.7'],
    ['IPv4 in IPv6, half in full', '0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['IPv4 in IPv6 with brackets and port', '[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['IPv4 in IPv6 with a zone', '::ffff:203.0.113.7%eth0', '203.0.113.7'],
    ['IPv4 behind NAT64', '64:ff9b::203.0.113.7', '203.0.113.7'],
    ['IPv4 behind NAT64, in hexadecimal', '[64:ff9b::cb00:7107]:443', '203.0.113.7'],
    ['IPv6 of a NAT64 prefix that operators divide as they like', '64:ff9b:1::cb00:7107', '64:ff9b:1::/64'],
    ['IPv6', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['IPv6 in full', '2001:0DB8:0001:0002:0000:0000:0000:0001', '2001:db8:1:2::/64'],
    ['IPv6 in brackets', '[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['IPv6 in brackets with a port', '[2001:db8:1:2::1]:8080', '2001:db8:1:2::/64'],
    ['IPv6 with a zone', 'fe80::1%eth0', 'fe80::/64'],
    ['IPv6 with a zone in brackets', '[fe80::1%25en0]:80', 'fe80::/64'],
    ['IPv6 with IPv4 at its end', '2001:db8::203.0.113.7', '2001:db8::/64'],
    ['the IPv4 loopback address', '127.0.0.1', '127.0.0.1'],
    ['the IPv6 loopback address', '::1', '::/64'],
  ])('has one spelling: %s', (_, reported, address) => {
    expect(clientAddress(reported, 64)).toBe(address);
  });

  it.each([
    [32, '2001:db8::/32'],
    [33, '2001:db8:8000::/33'],
    [48, '2001:db8:ffff::/48'],
    [56, '2001:db8:ffff:ff00::/56'],
    [60, '2001:db8:ffff:fff0::/60'],
    [64, '2001:db8:ffff:ffff::/64'],
    [127, '2001:db8:ffff:ffff:ffff:ffff:ffff:fffe/127'],
    [128, '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('is an IPv6 network of %i bits where the application says so', (prefix, address) => {
    expect(clientAddress('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', prefix)).toBe(address);
  });

  it.each([
    ['[2001:db8::1]:80', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['FE80:0::0:1%25en0', 'fe80::1'],
  ])('is a single IPv6 address in one spelling, too: %s', (reported, address) => {
    expect(clientAddress(reported, 128)).toBe(address);
  });

  it('is the IPv4 address whatever the length of IPv6 networks', () => {
    expect(clientAddress('::ffff:203.0.113.7', 32)).toBe('203.0.113.7');
  });

  it.each([
    'unknown',
    'unix:',
    '/var/run/app.sock',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.007',
    '0xcb007107',
    '3405803783',
    '203.0.113.7.8',
    '203.0.113.7, 198.51.100.1',
    '2001:db8::1::2',
    '2001:db8:::1',
    '[2001:db8::1',
    '2001:db8:1:2:3:4:5:6:7',
    'g::1',
    'client%1',
    '%',
    '{}',
  ])('stays as it is reported when it is none: %s', (reported) => {
    expect(clientAddress(reported, 64)).toBe(reported);
  });

  it('keeps the IPv4 addresses apart', () => {
    const ipv4 = fc.ipV4();
    fc.assert(
      fc.property(ipv4, ipv4, (one, other) => {
        expect(clientAddress(one, 64) === clientAddress(other, 64)).toBe(one === other);
      }),
    );
  });

  it('is the same for two addresses exactly when they lie in one network', () => {
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
    const written = (address: Uint8Array) =>
      Array.from({ length: 8 }, (_, i) => ((address[2 * i]! << 8) | address[2 * i + 1]!).toString(16)).join(':');
    const bits = (address: Uint8Array) => Array.from(address, (byte) => byte.toString(2).padStart(8, '0')).join('');

    fc.assert(
      fc.property(
        bytes,
        fc.integer({ min: 0, max: 127 }),
        fc.integer({ min: 32, max: 128 }),
        (one, flipped, prefix) => {
          one[0] = 0x20; // in the range of global addresses, clear of those that stand for IPv4
          const other = Uint8Array.from(one, (byte, i) =>
            i === flipped >> 3 && i > 0 ? byte ^ (128 >> (flipped & 7)) : byte,
          );
          const isOneNetwork = bits(one).slice(0, prefix) === bits(other).slice(0, prefix);
          expect(clientAddress(written(one), prefix) === clientAddress(written(other), prefix)).toBe(isOneNetwork);
        },
      ),
    );
  });
});
