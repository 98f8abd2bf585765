import { Sale } from '/work/main/test/demo/sale.ts';
import { ShopClient } from '/work/main/test/demo/shop-client.ts';
import { openShops } from '/work/main/test/demo/shops.ts';
const shops = await openShops(Number(process.argv[2]??1), { redis: process.argv[3], keyPrefix: 'probe'+process.pid, tokenSecret: 'x', stock: { '1': 1000 } });
const client = new ShopClient(shops.urls);
const sale = new Sale(client);
await sale.play();
for (const edge of [9900, 10100, 19900, 20100]) {
  const a = sale.visits.filter(v => v.by==='crowd' && v.sentAt >= edge-20 && v.sentAt < edge+90).map(v=>v);
  console.log(edge, 'n', a.length, 'sent', Math.min(...a.map(v=>v.sentAt)).toFixed(1), Math.max(...a.map(v=>v.sentAt)).toFixed(1), 'arr', a.map(v=>v.arrivedAt).sort((x,y)=>x-y).map(x=>(x-edge).toFixed(1)).join(' '), 'maxrtt', Math.max(...a.map(v=>v.answeredAt-v.sentAt)).toFixed(1));
}
client.close(); await shops.close();
