import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a panel of a dashboard shows. */
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** A query of a dashboard as Prometheus gets it, and the labels that its legend names. */
export interface PanelQuery {
  readonly title: string;
  readonly query: string;
  readonly legend: readonly string[];
}

/** The queries of a dashboard file, by its path from the root of the repository. */
export function dashboardQueries(path: string): readonly PanelQuery[] {
  const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: readonly Panel[] };
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      title,
      // The only variable that Grafana fills in.
      query: expr.replaceAll('$__rate_interval', '5m'),
      legend: [...legendFormat.matchAll(/\{\{(.*?)\}\}/g)].map(([, label]) => label!),
    })),
  );
}
