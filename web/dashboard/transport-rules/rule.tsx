import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { go, useParams } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Facts, Heading, Text, Time } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { RuleForm } from './fields.tsx'
import { RuleActions } from './rule-actions.tsx'
import { Sentence } from './sentence.tsx'
import { useRules } from './transport-rules.tsx'
import { TryRules } from './try-rules.tsx'
import { t } from './words.ts'

const LIST = '/app/transport-rules'
const PARENT = { title: titles.transportRules, to: LIST }
const STEP = 10

export function NewTransportRule() {
  const { data, error, again } = useRules()
  // A new rule applies after the others.
  const last = data?.items.at(-1)?.priority ?? 0
  return (
    <>
      <Heading title={titles.newTransportRule} parent={PARENT} />
      <Failed error={error} again={again} />
      <Card>
        <div class="builder">
          <RuleForm
            submit={t.create}
            save={async (body, idempotencyKey) => {
              await api.post('/transport-rules/', {
                body: { ...body, priority: last + STEP },
                idempotencyKey,
              })
              forget('transport-rule')
              toast(t.saved(body.name))
              go(LIST)
            }}
          />
        </div>
      </Card>
    </>
  )
}

export function TransportRulePage() {
  const { rule_id = '' } = useParams()
  const params = { rule_id }
  const may = useMay()
  const { data, error, again } = useQuery(`transport-rule ${rule_id}`, () =>
    api.get('/transport-rules/{rule_id}', { params }),
  )
  return (
    <>
      <Heading
        title={data?.name ?? titles.transportRule}
        parent={PARENT}
        badge={
          data && <Badge tone={data.enabled ? 'good' : ''}>{data.enabled ? t.on : t.off}</Badge>
        }
      >
        {data && <RuleActions rule={data} onRemoved={() => go(LIST)} />}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Card>
            <Facts
              facts={[
                { name: t.hits, value: number(data.hit_count) },
                { name: t.created, value: <Time iso={data.created_at} /> },
                { name: t.updated, value: <Time iso={data.updated_at} /> },
              ]}
            />
          </Card>
          <Card title={t.rule}>
            {may<'PUT /transport-rules/{rule_id}'>('write') ? (
              <div class="builder">
                <RuleForm
                  rule={data}
                  submit={common.save}
                  save={async (body, idempotencyKey) => {
                    await api.put('/transport-rules/{rule_id}', {
                      params,
                      body: { ...body, priority: data.priority },
                      idempotencyKey,
                    })
                    forget('transport-rule')
                    toast(t.saved(body.name))
                  }}
                />
              </div>
            ) : (
              <div class="prose">
                <p>
                  <Sentence rule={data} />
                </p>
                <p class="muted">
                  <Text>{data.description}</Text>
                </p>
              </div>
            )}
          </Card>
          <TryRules />
        </>
      )}
    </>
  )
}
