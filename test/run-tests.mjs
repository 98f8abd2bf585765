/**
 * Runs the tests. Usage: npm test [-- what Jest takes].
 * All of them: side by side, and at the end, one by one, the scenarios of test/chaos, which measure how long answers take.
 */
import { spawnSync } from 'node:child_process';

const SCENARIOS = 'test/chaos/(?!support)';

function jest(...args) {
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  return spawnSync(process.execPath, [...flags, 'node_modules/jest/bin/jest.js', ...args], { stdio: 'inherit' }).status;
}

const given = process.argv.slice(2);
const runs =
  given.length > 0
    ? [given]
    : [
        ['--maxWorkers=100%', `--testPathIgnorePatterns=${SCENARIOS}`],
        ['--runInBand', SCENARIOS],
      ];
const statuses = runs.map((args) => jest(...args));
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
