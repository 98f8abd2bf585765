import { parser } from '@prometheus-io/lezer-promql';
import type { SyntaxNode } from '@lezer/common';

/** What one query asks Prometheus for. */
export interface Query {
  readonly selectors: readonly Selector[];
  /** The labels that results are grouped or joined by. */
  readonly groupedBy: readonly string[];
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** Reads a query by the grammar of Prometheus itself. @throws SyntaxError with the query */
export function parsePromql(text: string): Query {
  const selectors: Selector[] = [];
  const groupedBy: string[] = [];
  const textOf = (node: SyntaxNode | null): string => (node ? text.slice(node.from, node.to) : '');
  const matcherOf = (node: SyntaxNode): Matcher => ({
    label: textOf(node.getChild('LabelName')),
    operator: textOf(node.getChild('MatchOp')),
    value: textOf(node.getChild('StringLiteral')).slice(1, -1),
  });
  parser.parse(text).iterate({
    enter: ({ type, node }) => {
      if (type.isError) throw new SyntaxError(`no PromQL: ${text}`);
      if (type.name === 'VectorSelector') {
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        selectors.push({ metric: textOf(node.getChild('Identifier')), matchers: matchers.map(matcherOf) });
      }
      if (type.name === 'GroupingLabels') groupedBy.push(...node.getChildren('LabelName').map(textOf));
    },
  });
  return { selectors, groupedBy };
}

/** Whether a matcher lets these labels through. @throws Error for `!=` and `!~`, which no query here has */
export function isMatch({ label, operator, value }: Matcher, labels: Readonly<Record<string, string>>): boolean {
  const found = labels[label] ?? '';
  if (operator === '=') return found === value;
  if (operator === '=~') return new RegExp(`^(?:${value})$`).test(found);
  throw new Error(`no test reads the operator ${operator}`);
}
