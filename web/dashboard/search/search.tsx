import { useState } from 'preact/hooks'
import type { RagSearch } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { markedParts } from '../../lib/marked.ts'
import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { visible } from '../../lib/visible.ts'
import { Failed } from '../../ui/failed.tsx'
import { DateFilter, TextFilter } from '../../ui/filters.tsx'
import { Choice } from '../../ui/list.tsx'
import { Badge, Card, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { SearchTabs } from './tabs.tsx'
import { t } from './words.ts'

const FIRST = 20
const MOST = 100

type Asked = Record<
  'q' | 'domain' | 'sender' | 'date_from' | 'date_to' | 'attachment' | 'limit',
  string
>

function ask({ q, domain, sender, date_from, date_to, attachment, limit }: Asked) {
  return api.post('/rag/search', {
    body: {
      query: q,
      limit: limit === '' ? FIRST : MOST,
      ...(domain && { domain }),
      ...(sender && { sender }),
      ...(date_from && { date_from }),
      ...(date_to && { date_to }),
      ...(attachment && { has_attachment: attachment === 'yes' }),
    },
  })
}

/** Question and filters are in the address. */
export function Search() {
  const [asked, change] = useQueryState<keyof Asked>(
    'q',
    'domain',
    'sender',
    'date_from',
    'date_to',
    'attachment',
    'limit',
  )
  const domains = useQuery('domains choice', () =>
    api.get('/domains/', { query: { per_page: 200 } }),
  )
  const set = (name: keyof Asked) => (value: string) => change({ [name]: value, limit: '' })
  return (
    <>
      <Heading title={titles.search} />
      <SearchTabs />
      <search>
        <Question q={asked.q} ask={set('q')} />
        <div class="bar">
          <Choice
            label={t.allDomains}
            value={asked.domain}
            options={(domains.data?.items ?? []).map((one) => [one.domain, one.domain_unicode])}
            change={set('domain')}
          />
          <TextFilter label={t.sender} value={asked.sender} change={set('sender')} />
          <Choice
            label={t.attachments}
            value={asked.attachment}
            options={[
              ['yes', t.withAttachment],
              ['no', t.withoutAttachment],
            ]}
            change={set('attachment')}
          />
          <DateFilter label={t.from} value={asked.date_from} change={set('date_from')} />
          <DateFilter label={t.to} value={asked.date_to} change={set('date_to')} />
        </div>
      </search>
      {asked.q.trim() === '' ? (
        <Card flush>
          <Empty
            title={t.start}
            action={
              <a class="button" href="/app/search/index">
                {t.toIndex}
              </a>
            }
          >
            {t.startHint}
          </Empty>
        </Card>
      ) : (
        <Results asked={asked} more={() => change({ limit: String(MOST) })} />
      )}
    </>
  )
}

function Question({ q, ask }: { q: string; ask(q: string): void }) {
  const [typed, setTyped] = useState(q)
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        ask(typed.trim())
      }}
    >
      <input
        class="grow"
        type="search"
        aria-label={t.question}
        placeholder={t.question}
        maxLength={1000}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        {t.run}
      </button>
    </form>
  )
}

function Results({ asked, more }: { asked: Asked; more(): void }) {
  const { data, error, again, loading } = useQuery(`rag-search ${JSON.stringify(asked)}`, () =>
    ask(asked),
  )
  return (
    <>
      <Failed error={error} again={again} />
      {(data || !error) && (
        <div class="card" aria-busy={loading}>
          <p class="pad muted" role="status">
            {data ? t.found(number(data.results.length), number(data.total)) : common.loading}
          </p>
          {data?.results.length === 0 && (
            <Empty title={common.nothingFound}>{common.nothingFoundHint}</Empty>
          )}
          <ol class="rules">
            {data?.results.map((result) => (
              <Result key={result.email_id} result={result} />
            ))}
          </ol>
          {data && data.results.length < data.total && asked.limit === '' && (
            <p class="pad">
              <button type="button" onClick={more}>
                {t.more}
              </button>
            </p>
          )}
        </div>
      )}
    </>
  )
}

const Result = ({ result }: { result: RagSearch['results'][number] }) => (
  <li>
    <h2>
      <Text>{result.subject || result.document_id || t.noSubject}</Text>{' '}
      {result.has_attachment && <Badge>{t.attachment}</Badge>}
    </h2>
    <p class="muted">
      {result.from && <Text>{`${result.from} · `}</Text>}
      {result.date && (
        <>
          <Time iso={result.date} form="dateTime" />
          {' · '}
        </>
      )}
      <Text>{[result.mailbox, result.folder].filter(Boolean).join(' / ')}</Text>
    </p>
    <p class="prose">
      <bdi>
        {markedParts(result.snippet).map(({ text, isMarked }, index) =>
          isMarked ? <mark key={index}>{visible(text)}</mark> : visible(text),
        )}
      </bdi>
    </p>
  </li>
)
