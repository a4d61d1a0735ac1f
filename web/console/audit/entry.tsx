import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Details, Source } from '../../ui/details.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Heading, Text, Time } from '../../ui/page.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { callerOf, Result } from './audit.tsx'
import { t } from './words.ts'

export function Entry() {
  const { audit_id = '' } = useParams()
  const { data, error, again } = useQuery(`audit entry ${audit_id}`, () =>
    api.get('/platform/audit/{audit_id}', { params: { audit_id: Number(audit_id) } }),
  )
  const correlation = data?.correlation_id
  return (
    <>
      <Heading
        title={t.entry(audit_id)}
        parent={{ title: t.title, to: '/console/audit' }}
        badge={data && <Result {...data} />}
      />
      <Failed error={error} again={again} />
      {data && (
        <>
          <Card>
            <Details
              rows={[
                [t.action, <code key="action">{data.action}</code>],
                [common.when, <Time key="when" iso={data.created_at} form="dateTime" />],
                [t.by, <Text key="by">{callerOf(data)}</Text>],
                [t.targetType, data.target_type],
                [t.target, data.target_id && <Text>{data.target_id}</Text>],
                [t.organization, data.organization_id && <code>{data.organization_id}</code>],
                [t.status, String(data.status_code)],
                [t.address, <code key="address">{data.ip_address}</code>],
                [
                  t.correlation,
                  correlation && (
                    <>
                      <code>{correlation}</code> <Copy text={correlation} label={t.correlation} />
                    </>
                  ),
                ],
              ]}
            />
            {correlation && (
              <p class="links">
                <a href={`/console/audit?correlation_id=${encodeURIComponent(correlation)}`}>
                  {t.sameRequest}
                </a>
                <a href={`/console/logs?correlation_id=${encodeURIComponent(correlation)}`}>
                  {t.logLines}
                </a>
              </p>
            )}
          </Card>
          <Card title={t.body} flush>
            {data.request_body ? (
              <Source label={t.body} text={JSON.stringify(data.request_body, null, 2)} />
            ) : (
              <p class="pad muted">{t.noBody}</p>
            )}
          </Card>
        </>
      )}
    </>
  )
}
