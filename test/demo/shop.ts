import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppModule } from '../../examples/seckill/app.module.ts';
import type { ShopOptions } from '../../examples/seckill/shop-options.ts';
import { startApp } from '../support/nest-app.ts';
import { clockMs } from './clock.ts';
import { ARRIVED_AT } from './shop-client.ts';

// One process of the shop, behind the demo as its proxy. It ends with the demo, however that ends.

const options = JSON.parse(process.env.SHOP_OPTIONS!) as ShopOptions;
const tellArrival = (_request: IncomingMessage, response: ServerResponse, next: () => void): void => {
  response.setHeader(ARRIVED_AT, clockMs());
  next();
};
const shop = await startApp(AppModule.register(options), 'express', {
  trustProxy: true,
  configure: (app) => app.use(tellArrival),
});
// No connection may close of idleness at the moment in which the demo uses it again.
(shop.app.getHttpServer() as { keepAliveTimeout: number }).keepAliveTimeout = 60_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), 2_000).unref();
  shop.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
process.send!(shop.url);
