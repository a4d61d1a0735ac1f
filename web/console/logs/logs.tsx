import type { LogLine } from '../../api/schema.ts'
import { number, time } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, type Tone } from '../../ui/page.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const LINES = 300
const LIVE_SECONDS = 3

const FILTERS = ['service', 'level', 'correlation_id'] as const

export function Logs() {
  const [{ live }, change] = useQueryState('live')
  const list = useList<LogLine, (typeof FILTERS)[number]>({
    name: 'logs',
    sort: '',
    filters: FILTERS,
    ...(live && { everySeconds: LIVE_SECONDS }),
    read: async ({ q, filters }) => {
      const { lines, truncated } = await api.get('/platform/logs', {
        query: { ...filters, q, lines: LINES },
      })
      // The total is not known; more than what is shown means that lines were left out.
      const total = truncated ? lines.length + 1 : lines.length
      return { items: lines.toReversed(), pagination: { total } }
    },
  })
  // One line is enough to know the services; the list itself may be filtered to none.
  const services = useQuery('log services', () =>
    api.get('/platform/logs', { query: { lines: 1 } }),
  )
  const { filters } = list.asked
  return (
    <>
      <Heading title={t.title} badge={live && <Badge tone="good">{t.live}</Badge>} />
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyService}
          value={filters.service}
          options={(services.data?.available_services ?? []).map((name) => [name, name] as const)}
          change={(service) => list.set({ service })}
        />
        <Choice
          label={t.anyLevel}
          value={filters.level}
          options={Object.entries(t.levels)}
          change={(level) => list.set({ level })}
        />
        <label class="inline-field" title={t.liveHint}>
          <input
            type="checkbox"
            checked={live !== ''}
            onChange={(event) => change({ live: event.currentTarget.checked ? '1' : '' })}
          />
          {t.live}
        </label>
      </SearchBar>
      {filters.correlation_id && (
        <p class="note">
          {t.oneRequest}: <code>{filters.correlation_id}</code>{' '}
          <button type="button" class="small" onClick={() => list.set({ correlation_id: '' })}>
            {t.allRequests}
          </button>
        </p>
      )}
      <Failed error={list.error} again={list.again} />
      {list.data && (
        <Lines
          lines={list.data.items}
          truncated={(list.data.pagination?.total ?? 0) > list.data.items.length}
          clear={list.isFiltered ? list.clear : undefined}
        />
      )}
    </>
  )
}

function Lines({
  lines,
  truncated,
  clear,
}: {
  lines: readonly LogLine[]
  truncated: boolean
  clear: (() => void) | undefined
}) {
  if (lines.length === 0) {
    return (
      <div class="card">
        {clear ? (
          <Empty
            title={common.nothingFound}
            action={
              <button type="button" onClick={clear}>
                {common.showAll}
              </button>
            }
          >
            {common.nothingFoundHint}
          </Empty>
        ) : (
          <Empty title={t.none}>{t.noneHint}</Empty>
        )}
      </div>
    )
  }
  return (
    <div class="card">
      <ol class="log" aria-label={t.lines}>
        {lines.map((line, index) => (
          <Line key={lines.length - index} line={line} />
        ))}
      </ol>
      <p class="pager muted">
        {truncated ? t.truncated(number(lines.length)) : t.shown(number(lines.length))}
      </p>
    </div>
  )
}

const TONES: Record<string, Tone> = { CRITICAL: 'bad', ERROR: 'bad', WARNING: 'warn' }

const Line = ({ line }: { line: LogLine }) => (
  <li>
    {line.timestamp && (
      <time dateTime={line.timestamp} title={line.timestamp}>
        {time(line.timestamp)}
      </time>
    )}
    <span class="muted">{line.service}</span>
    {line.level && <Badge tone={TONES[line.level] ?? ''}>{line.level}</Badge>}
    <span class="message">
      <Text>{line.message}</Text>
      {line.correlation_id && (
        <>
          {' '}
          <a href={`/console/logs?correlation_id=${encodeURIComponent(line.correlation_id)}`}>
            {line.correlation_id}
          </a>
        </>
      )}
    </span>
  </li>
)
