import { AppModule } from '../../examples/seckill/app.module.ts';
import type { ShopOptions } from '../../examples/seckill/shop-options.ts';
import { startApp, type TestApp } from '../support/nest-app.ts';

// One process of the shop, with the demo as its proxy. It ends with the demo, however that ends.

const LONGEST_FAREWELL_MS = 2_000;

let shop: TestApp | undefined;
process.once('disconnect', () => {
  if (!shop) process.exit();
  setTimeout(() => process.exit(), LONGEST_FAREWELL_MS).unref();
  void shop.close().finally(() => process.exit());
});

const options = JSON.parse(process.env.SHOP_OPTIONS!) as ShopOptions;
shop = await startApp(AppModule.register(options), 'express', { trustProxy: true });
// No connection may close of idleness at the moment in which the demo uses it again.
(shop.app.getHttpServer() as { keepAliveTimeout: number }).keepAliveTimeout = 60_000;
process.send!(Number(new URL(shop.url).port));
