import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/redis-server.ts';

const run = (dockerHost: string): { status: number | null; output: string } => {
  const file = fileURLToPath(new URL('run.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', '@swc-node/register/esm-register', file],
    { encoding: 'utf8', env: { ...process.env, DOCKER_HOST: dockerHost, NODE_OPTIONS: '' } },
  );
  return { status, output: stdout + stderr };
};

describe('The run on other servers', () => {
  it('fails without a Docker engine, and says where it looked and what to do', async () => {
    const dockerHost = `tcp://127.0.0.1:${await freePort()}`;
    const { status, output } = run(dockerHost);
    expect(output).toContain(`No Docker engine answers at DOCKER_HOST=${dockerHost} (connect ECONNREFUSED`);
    expect(output).toContain('start Docker, or set DOCKER_HOST to where an engine runs; nothing was tested.');
    expect(status).toBe(1);
  }, 20_000);
});
