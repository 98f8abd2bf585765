import { answers, EXPECTED } from './limited-app.js';

async function main(): Promise<void> {
  const found = await answers();
  const wrong = Object.entries(found).filter(([, answer]) => answer !== EXPECTED);
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
  console.log(`PASS ${Object.keys(found).join(', ')}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
