import { describe, expect, it } from '@jest/globals';
import { markdownTable } from './markdown-table.ts';

describe('a table', () => {
  it('has texts on the left, numbers on the right, and a dash where there is none', () => {
    const rows = [
      { name: 'ours', size: 1_234.56 },
      { name: 'somebody', size: NaN },
    ];
    const table = markdownTable<(typeof rows)[number]>(
      [
        { head: 'name', cell: ({ name }) => name },
        { head: 'size', cell: ({ size }) => size, digits: 1 },
      ],
      rows,
    );
    expect(table.split('\n')).toEqual([
      '| name     |    size |',
      '| -------- | ------: |',
      '| ours     | 1,234.6 |',
      '| somebody |       – |',
    ]);
  });
});
