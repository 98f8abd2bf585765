import { expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EventEmitter } from 'node:events';
import { HttpTransport } from '../../src/transports/http-transport.ts';

class Answer extends EventEmitter {
  statusCode = 200;
  destroyed = false;
  writableFinished = false;
}

const contextOf = (response: unknown): ExecutionContext => new ExecutionContextHost([{}, response]);

/** What is told of an answer that is in this state when it begins to be followed, and of what happens to it then. */
function toldOf(state: Partial<Answer>, ...events: readonly string[]): readonly (number | undefined)[] {
  const answer = Object.assign(new Answer(), state);
  const told: (number | undefined)[] = [];
  new HttpTransport(() => undefined).followAnswer(contextOf(answer), (status) => told.push(status));
  for (const event of events) answer.emit(event);
  return told;
}

it.each<[string, Partial<Answer>, readonly string[], readonly (number | undefined)[]]>([
  ['that is sent whole', { statusCode: 401 }, ['finish'], [401]],
  ['whose client leaves', {}, ['close'], [undefined]],
  ['that was sent whole before', { statusCode: 201, writableFinished: true, destroyed: true }, [], [201]],
  ['whose client left before', { destroyed: true }, [], [undefined]],
  ['that goes on', {}, [], []],
])('what becomes of an answer %s is told', (_, state, events, told) => {
  expect(toldOf(state, ...events)).toEqual(told);
});
