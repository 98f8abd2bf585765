import { afterEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { AppModule } from '../../examples/seckill/app.module.ts';
import { PLATFORMS, startApp, type Answer, type TestApp } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const redis = useRedis();
const STORES = ['the embedded store', 'Redis'] as const;
const CASES = PLATFORMS.flatMap((platform) => STORES.map((store) => [platform, store] as const));

describe.each(CASES)('The flash sale on %s and %s', (platform, store) => {
  const opened: TestApp[] = [];
  afterEach(async () => {
    for (const shop of opened.splice(0)) await shop.close();
  });

  /** The processes of one shop. */
  async function openShop({ vouchers = 100, processes = 1 } = {}): Promise<TestApp[]> {
    const options = {
      ...(store === 'Redis' && { redis: redis.url, keyPrefix: `${redis.keyPrefix}-${randomBytes(4).toString('hex')}` }),
      // A busy test machine must not turn into failures of the store.
      decisionTimeout: '5s',
      tokenSecret: 'of this test',
      stock: { '1': vouchers },
    };
    for (let i = 0; i < processes; i++) {
      opened.push(await startApp(AppModule.register(options), platform, { trustProxy: true }));
    }
    return opened;
  }

  const logIn = (shop: TestApp, phone: string, address: string, code = '246810'): Promise<Answer> =>
    shop.call('POST', '/user/login', { headers: { 'x-forwarded-for': address }, body: { phone, code } });

  const order = (shop: TestApp, token: string): Promise<Answer> =>
    shop.call('POST', '/voucher-order/seckill/1', { headers: { authorization: token } });

  /** Logs in so many customers, each from an address of its own, and gives their tokens. */
  async function customers(shop: TestApp, count: number): Promise<string[]> {
    const answers = Array.from({ length: count }, (_, i) => logIn(shop, String(13_800_000_000 + i), `10.0.0.${i + 1}`));
    return (await Promise.all(answers)).map(({ json }) => (json as { data: string }).data);
  }

  const admitted = (answers: readonly Answer[]): number => answers.filter(({ status }) => status === 200).length;

  it('sells a voucher to a customer who logged in', async () => {
    const [shop] = await openShop();
    const [token] = await customers(shop!, 1);

    const answer = await order(shop!, token!);

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      success: true,
      errorMsg: null,
      data: { id: expect.any(String), voucherId: '1', userId: '13800000000' },
      total: null,
    });
  });

  it('admits 10 orders of all customers together and refuses the others in the envelope of the shop', async () => {
    const [shop] = await openShop();
    const tokens = await customers(shop!, 14);

    const answers = await Promise.all(tokens.map((token) => order(shop!, token)));
    const refused = answers.filter(({ status }) => status === 429);

    expect(admitted(answers)).toBe(10);
    expect(refused).toHaveLength(4);
    for (const { json, headers } of refused) {
      expect(json).toEqual({ success: false, errorMsg: '秒杀活动太火爆，请稍后再试', data: null, total: null });
      expect(headers.get('retry-after')).toMatch(/^([1-9]|10)$/);
    }
  });

  it('admits 3 orders of one customer, and what it refuses him is left to the others', async () => {
    const [shop] = await openShop();
    const [greedy, ...others] = await customers(shop!, 11);

    const ofGreedy = await Promise.all(Array.from({ length: 30 }, () => order(shop!, greedy!)));
    const ofOthers = await Promise.all(others.map((token) => order(shop!, token)));

    expect(admitted(ofGreedy)).toBe(3);
    expect(ofGreedy.find(({ status }) => status === 429)!.json).toMatchObject({
      errorMsg: '您的操作太频繁，请稍后再试',
    });
    expect(admitted(ofOthers)).toBe(7);
  });

  it('turns away who did not log in, at no cost to the sale', async () => {
    const [shop] = await openShop();
    const tokens = await customers(shop!, 10);

    const strangers = await Promise.all(Array.from({ length: 20 }, () => order(shop!, 'no token')));
    const answers = await Promise.all(tokens.map((token) => order(shop!, token)));

    expect(new Set(strangers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(strangers[0]!.json).toEqual({ success: false, errorMsg: '请先登录', data: null, total: null });
    expect(admitted(answers)).toBe(10);
  });

  it('gives one address 5 tries to log in, right or wrong, and leaves other addresses alone', async () => {
    const [shop] = await openShop();
    const guess = (): Promise<Answer> => logIn(shop!, '13800000000', '10.9.9.9', '000000');

    const guesses = [await guess(), await guess(), await guess(), await guess(), await guess()];
    const right = await logIn(shop!, '13800000000', '10.9.9.9');
    const elsewhere = await logIn(shop!, '13800000000', '10.9.9.10');

    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(right.status).toBe(429);
    expect(right.json).toEqual({ success: false, errorMsg: '登录尝试过于频繁，请稍后再试', data: null, total: null });
    expect(elsewhere.status).toBe(200);
  });

  it('never sells more than its stock', async () => {
    const [shop] = await openShop({ vouchers: 4 });
    const tokens = await customers(shop!, 9);

    const answers = await Promise.all(tokens.map((token) => order(shop!, token)));
    const soldOut = answers.filter(({ status }) => status === 409);

    expect(admitted(answers)).toBe(4);
    expect(soldOut).toHaveLength(5);
    expect(soldOut[0]!.json).toEqual({ success: false, errorMsg: '库存不足', data: null, total: null });
  });

  if (store === 'Redis') {
    it('shares limits, log-ins and stock among its processes', async () => {
      const [first, second] = await openShop({ vouchers: 8, processes: 2 });
      const tokens = await customers(first!, 14);

      const answers = await Promise.all(tokens.map((token, i) => order(i % 2 ? first! : second!, token)));
      const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);

      expect(statuses).toEqual([...Array<number>(8).fill(200), 409, 409, 429, 429, 429, 429]);
    });
  }
});
