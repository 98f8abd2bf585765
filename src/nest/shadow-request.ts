import type { ExecutionContext } from '@nestjs/common';
import { Answers } from './answers.ts';
import type { AwaitedOutcome } from './outcome-refunds.ts';
import type { Rule } from './rule.ts';
import type { RuleCharges } from './rule-charges.ts';
import type { ShadowMoment, Spared } from './shadow-moment.ts';
import { byKey, type ShadowJudge, type ShadowTaken } from './shadow-judge.ts';

interface Parts {
  readonly judge: ShadowJudge;
  readonly charges: RuleCharges;
}

interface Course {
  /** Whether rules without an identity are judged again at a later moment. */
  readonly hasLater: boolean;
  /** There if a rule counts by outcome. */
  readonly awaited: AwaitedOutcome | undefined;
}

/**
 * The rules in shadow of one request: judged behind its back, each by itself, when what is enforced at their moment has
 * admitted it.
 */
export class ShadowRequest {
  readonly #parts: Parts;
  readonly #context: ExecutionContext;
  readonly #taken: Promise<readonly (ShadowTaken | undefined)[]>[] = [];
  #awaited: AwaitedOutcome | undefined;
  #isGivenBack = false;
  /** The rules without an identity at the earlier moment, when they are known. */
  #left: readonly Promise<readonly Rule[]>[] = [];

  constructor(parts: Parts, context: ExecutionContext) {
    this.#parts = parts;
    this.#context = context;
  }

  /** @param answers what functions said at this moment, if some were asked before */
  moment(answers = new Answers(this.#context)): ShadowMoment {
    return { answers, spared: [] };
  }

  /** Returns at once. */
  judge(rules: readonly Rule[], { answers, spared }: ShadowMoment, { hasLater, awaited }: Course): void {
    this.#awaited = awaited;
    const groups = groupsOf(rules, spared);
    const waited = this.#left;
    this.#left = groups.map((group) => this.#judgeGroup(group, answers, hasLater));
    for (const left of waited) {
      const again = left.then((those) => this.#judgeGroup({ rules: those, spared: [] }, answers, false));
      this.#left = [...this.#left, again];
    }
  }

  /** What was taken in shadow is given back, once it is known. */
  giveBack(): void {
    this.#isGivenBack = true;
    const { judge } = this.#parts;
    for (const call of this.#taken) {
      void call.then((taken) => {
        for (const each of taken) if (each) void judge.giveBack(each);
      });
    }
  }

  /** @returns the rules that are left for the later moment */
  async #judgeGroup(group: Group, answers: Answers, hasLater: boolean): Promise<readonly Rule[]> {
    const later: Rule[] = [];
    const judged = this.#consume(group, answers, hasLater ? later : undefined);
    this.#taken.push(judged);
    await judged;
    return later;
  }

  async #consume(
    { rules, spared }: Group,
    answers: Answers,
    later: Rule[] | undefined,
  ): Promise<readonly (ShadowTaken | undefined)[]> {
    const { charges, judge } = this.#parts;
    const found = [...spared];
    if (rules.length > 0) await charges.of(rules, this.#context, later, { answers, spared: found });
    const charged = await charges.inShadow(found, answers, later);
    return Promise.all(byKey(charged).map((each) => judge.consume(each).then((taken) => this.#follow(taken))));
  }

  /** What rules that count by outcome took is given back when they do not count this one. */
  #follow(taken: ShadowTaken | undefined): ShadowTaken | undefined {
    if (taken && !this.#isGivenBack) this.#awaited?.add(taken);
    return taken;
  }
}

/** What may share a log. */
interface Group {
  readonly rules: readonly Rule[];
  readonly spared: readonly Spared[];
}

/** Rules of one bucket together, the others each by itself, so that a slow function holds up no other rule. */
function groupsOf(rules: readonly Rule[], spared: readonly Spared[]): readonly Group[] {
  const groups = new Map<unknown, { rules: Rule[]; spared: Spared[] }>();
  const groupOf = (rule: Rule): { rules: Rule[]; spared: Spared[] } => {
    const shared = rule.isBucket ? rule.place : rule;
    const group = groups.get(shared) ?? { rules: [], spared: [] };
    groups.set(shared, group);
    return group;
  };
  for (const rule of rules) groupOf(rule).rules.push(rule);
  for (const each of spared) groupOf(each.rule).spared.push(each);
  return [...groups.values()];
}
