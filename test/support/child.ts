import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A Node process of the tests' own that answers one message with one message. */
export interface Child {
  readonly pid: number;
  ask<Answer>(question: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** Runs a module, in TypeScript or compiled, as a process; it says that it is ready by sending a message. */
export async function startChild(module: URL, env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const child = fork(fileURLToPath(module), {
    execArgv: module.pathname.endsWith('.ts') ? ['--import', '@swc-node/register/esm-register'] : [],
    env: { ...process.env, ...env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await nextMessage(child);
  return {
    pid: child.pid!,
    async ask<Answer>(question: unknown): Promise<Answer> {
      const answer = nextMessage(child);
      child.send(question as object);
      return (await answer) as Answer;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`the process ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}

/** In the child: answers every question, and ends with the process that asks. */
export function answerQuestions<Question>(answer: (question: Question) => Promise<unknown>): void {
  process.on('message', (question) => {
    answer(question as Question).then(
      (result) => process.send!(result as object),
      (error: unknown) => {
        throw error;
      },
    );
  });
  process.on('disconnect', () => process.exit());
  process.send!('ready');
}
