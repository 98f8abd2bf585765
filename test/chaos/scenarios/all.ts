import type { Scenario } from '../scenario.ts';
import { cluster } from './cluster.ts';
import { losses } from './losses.ts';
import { refusals } from './refusals.ts';
import { sentinel } from './sentinel.ts';
import { stalls } from './stalls.ts';
import { starts } from './starts.ts';

export const all: readonly Scenario[] = [...stalls, ...losses, ...refusals, ...sentinel, ...cluster, ...starts];
