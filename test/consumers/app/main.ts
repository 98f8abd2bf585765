import { answers, EXPECTED } from './limited-app.js';
import { loadedCopies } from './loaded-copies.js';

async function main(): Promise<void> {
  const found = await answers();
  const wrong = Object.entries(found).filter(([, answer]) => answer !== EXPECTED);
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
  const copies = loadedCopies();
  if (copies !== 1) throw new Error(`${copies} copies of the library are loaded`);
  console.log(`PASS ${Object.keys(found).join(', ')}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
