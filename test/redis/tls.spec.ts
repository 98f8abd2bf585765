import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { openRedis } from '../../src/redis/open-redis.ts';
import { createRateLimitStore, type RateLimitStoreOptions } from '../../src/create-rate-limit-store.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import type { StoreEvent } from '../../src/core/store-event.ts';
import { charge } from '../contract/store-contract.ts';
import type { Outcome, Work } from '../processes/consumer.ts';
import { CertificateAuthority, type Certificate } from '../support/certificates.ts';
import { startChild } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, startRedisServer, type RedisServer } from '../support/redis-server.ts';

const host = '127.0.0.1';
// A start without Redis takes 2 s, and a process of its own takes as long.
jest.setTimeout(20_000);

describe('a store on Redis with TLS', () => {
  let authority: CertificateAuthority;
  let stranger: CertificateAuthority;
  let server: RedisServer;
  let port: number;
  const cleanUps: (() => Promise<unknown>)[] = [];

  const serve = async (tlsPort: number, { certFile, keyFile }: Certificate, ...more: readonly string[]) => {
    const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile];
    const trust = ['--tls-ca-cert-file', authority.certificate.certFile, '--tls-auth-clients', 'no'];
    return startRedisServer({ args: ['--tls-port', String(tlsPort), ...files, ...trust, ...more] });
  };
  const serveForTest = async (...args: Parameters<typeof serve>): Promise<RedisServer> => {
    const started = await serve(...args);
    cleanUps.push(() => started.stop());
    return started;
  };
  beforeAll(async () => {
    authority = new CertificateAuthority('authority');
    stranger = new CertificateAuthority('stranger');
    port = await freePort();
    server = await serve(port, authority.issue('server', 'DNS:localhost', `IP:${host}`));
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  afterAll(async () => {
    await server.stop();
    authority.remove();
    stranger.remove();
  });

  const open = async (redis: RateLimitStoreOptions['redis']) => {
    const events: StoreEvent[] = [];
    const begun = performance.now();
    const onStoreEvent = (event: StoreEvent): unknown => events.push(event);
    const store = await createRateLimitStore({ redis, onStoreError: 'deny', decisionTimeout: '1s', onStoreEvent });
    cleanUps.push(async () => store.close?.());
    return { store, events, tookMs: performance.now() - begun };
  };
  let calls = 0;
  const consume = (store: RateLimitStore) => store.consume({ id: `call${calls++}`, charges: [charge()] });
  const isAnswered = (store: RateLimitStore): Promise<boolean> =>
    consume(store).then(
      () => true,
      () => false,
    );
  const trust = () => authority.certificate.pem;

  it('is made from options of ioredis that name the authority', async () => {
    const { store, events } = await open({ host, port, tls: { ca: trust() } });
    expect((await consume(store)).allowed).toBe(true);
    expect(events).toEqual([]);
  });

  it('is made from a rediss:// URL when the process trusts the authority', async () => {
    const env = { REDIS_URL: `rediss://localhost:${port}`, NODE_EXTRA_CA_CERTS: authority.certificate.certFile };
    const child = await startChild(new URL('../processes/consumer.ts', import.meta.url), env);
    cleanUps.push(() => child.stop());
    const work: Work = { charge: charge({ limit: 3, windowMs: 60_000 }), calls: 5, inFlight: 1, startAt: 0 };
    const { admittedAt, refused, errors } = await child.ask<Outcome>(work);
    expect({ admitted: admittedAt.length, refused, errors }).toEqual({ admitted: 3, refused: 2, errors: [] });
  });

  it('shows a server its own certificate when the options hold one', async () => {
    const strict = await freePort();
    await serveForTest(strict, authority.issue('strict', `IP:${host}`), '--tls-auth-clients', 'yes');
    const { keyFile, pem } = authority.issue('client', 'DNS:client');
    const own = { cert: pem, key: readFileSync(keyFile) };
    const { store } = await open({ host, port: strict, tls: { ca: trust(), ...own } });
    expect((await consume(store)).allowed).toBe(true);
    const { store: bare } = await open({ host, port: strict, tls: { ca: trust() } });
    await expect(consume(bare)).rejects.toMatchObject({ kind: 'connection' });
  });

  describe('starts within 2 s by its failure policy and says why,', () => {
    it.each([
      [
        'when it trusts another authority',
        () => ({ host, port, tls: { ca: stranger.certificate.pem } }),
        /certificate/,
      ],
      ['when it trusts only the authorities of Node', () => `rediss://${host}:${port}`, /certificate/],
      ['when it speaks plainly to a port with TLS', () => `redis://${host}:${port}`, /ECONNRESET|closed|TLS/],
      ['when it speaks TLS to a plain port', () => `rediss://${host}:${server.port}`, /not ready|TLS/],
    ])('%s', async (_, redis, reason) => {
      const { store, events, tookMs } = await open(redis());
      expect(tookMs).toBeLessThan(3_000);
      await expect(consume(store)).rejects.toMatchObject({ name: 'StoreUnavailableError', kind: 'connection' });
      expect(events).toMatchObject([{ error: { kind: 'connection', message: expect.stringMatching(reason) } }]);
    });

    it('and survives a second error of the same connection', async () => {
      const client = (await openRedis({ host, port, tls: { ca: stranger.certificate.pem } })) as unknown as Redis;
      const failed = new Promise((resolve) => client.once('error', resolve));
      client.connect().catch(() => undefined);
      await failed;
      expect(() => client.stream.emit('error', new Error('once more'))).not.toThrow();
      client.disconnect();
    });

    it('when the certificate is that of another host', async () => {
      const other = await freePort();
      await serveForTest(other, authority.issue('elsewhere', 'DNS:redis.example'));
      const { store, events } = await open({ host, port: other, tls: { ca: trust() } });
      await expect(consume(store)).rejects.toMatchObject({ kind: 'connection' });
      expect(events).toMatchObject([{ error: { message: expect.stringMatching(/does not match certificate/) } }]);
      const named = await open({ host, port: other, tls: { ca: trust(), servername: 'redis.example' } });
      expect((await consume(named.store)).allowed).toBe(true);
    });
  });

  it('decides through Redis without a new start once the server shows a certificate that is trusted', async () => {
    const mended = await freePort();
    const wrong = await serveForTest(mended, stranger.issue('wrong', `IP:${host}`));
    const { store } = await open({ host, port: mended, tls: { ca: trust() } });
    expect(await isAnswered(store)).toBe(false);
    await wrong.stop();
    await serveForTest(mended, authority.issue('right', `IP:${host}`));
    await eventually(() => isAnswered(store));
  });
});
