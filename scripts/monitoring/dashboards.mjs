// Dashboards of Grafana: an overview of all services, and one row of panels for each service with the
// metrics that only it has.
const SOURCE = { type: 'prometheus', uid: 'mailplane' }
const COMMON =
  /_(info|uptime_seconds|cpu_usage_percent|memory_usage_(percent|bytes)|http_(requests|errors)_total|http_request_duration_seconds)$/
const WIDTH = 8
const HEIGHT = 7

export function dashboardsOf(metrics) {
  const names = metrics.flatMap(({ name }) => /^(.+)_http_requests_total$/.exec(name)?.[1] ?? [])
  return {
    'mailplane-overview.json': dashboard('mailplane-overview', 'Mailplane: overview', [
      panel('Requests a second', 'reqps', 'mailplane:http_requests:rate5m', '{{service}}'),
      panel(
        'Answers of 400 and above a second',
        'reqps',
        'mailplane:http_errors:rate5m',
        '{{service}}',
      ),
      panel(
        'Time of the API, 95 of 100 requests',
        's',
        'max by (path) (api_http_request_duration_seconds{quantile="0.95"})',
        '{{path}}',
      ),
      panel(
        'Services that are down',
        'short',
        'count({__name__=~".+_service_up"} == 0) or vector(0)',
        'down',
      ),
      panel('CPU of the host', 'percent', 'monitoring_system_cpu_usage', '{{instance}}'),
      panel('Memory of the host', 'percent', 'monitoring_system_memory_usage', '{{instance}}'),
      panel('Disk of DATA_DIR', 'percent', 'monitoring_system_disk_usage', '{{instance}}'),
      panel('Age of the last backup', 's', 'monitoring_backup_age_seconds', '{{host}}'),
      panel(
        'Alerts',
        'short',
        'count by (alertname) (ALERTS{alertstate="firing",alertname=~"Mailplane.*"})',
        '{{alertname}}',
      ),
    ]),
    'mailplane-services.json': dashboard(
      'mailplane-services',
      'Mailplane: services',
      names.flatMap((service) => {
        const own = metrics.filter(
          ({ name }) => serviceOf(name, names) === service && !COMMON.test(name),
        )
        return own.length === 0 ? [] : [{ type: 'row', title: service }, ...own.map(ownPanel)]
      }),
    ),
  }
}

/** The longest service name that the metric begins with. */
const serviceOf = (name, services) =>
  services.filter((one) => name.startsWith(`${one}_`)).sort((a, b) => b.length - a.length)[0]

function ownPanel({ name, help, type }) {
  const unit = /bytes/.test(name) ? 'bytes' : /seconds/.test(name) ? 's' : 'short'
  if (type === 'counter') return panel(`${help}, a second`, 'ops', `rate(${name}[5m])`)
  if (type === 'histogram') {
    const expr = `histogram_quantile(0.95, sum by (le) (rate(${name}_bucket[5m])))`
    return panel(`${help}, 95 of 100`, unit, expr, '0.95')
  }
  return panel(help, unit, name)
}

const panel = (title, unit, expr, legendFormat = '__auto') => ({
  type: 'timeseries',
  title,
  datasource: SOURCE,
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  targets: [{ refId: 'A', datasource: SOURCE, expr, legendFormat }],
})

/** Places the panels, three in a line; a row begins a line. */
function dashboard(uid, title, panels) {
  let x = 0
  let y = 0
  const placed = panels.map((one, index) => {
    const isRow = one.type === 'row'
    if ((isRow && x > 0) || x + WIDTH > 3 * WIDTH) {
      x = 0
      y += HEIGHT
    }
    const gridPos = isRow ? { x: 0, y, w: 24, h: 1 } : { x, y, w: WIDTH, h: HEIGHT }
    if (isRow) y += 1
    else x += WIDTH
    return { id: index + 1, gridPos, ...one, ...(isRow && { collapsed: false, panels: [] }) }
  })
  return {
    uid,
    title,
    tags: ['mailplane'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: [] },
    annotations: { list: [] },
    panels: placed,
  }
}
