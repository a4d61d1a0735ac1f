import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Heading, Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { DeliveryList } from './deliveries.tsx'
import { EndpointActions } from './endpoint-actions.tsx'
import { EndpointFields, endpointOf } from './endpoint-fields.tsx'
import { Status } from './webhooks.tsx'
import { t } from './words.ts'

export function Endpoint() {
  const { endpoint_id = '' } = useParams()
  const may = useMay()
  const params = { endpoint_id }
  const { data, error, again } = useQuery(`webhook ${endpoint_id}`, () =>
    api.get('/webhooks/endpoints/{endpoint_id}', { params }),
  )
  return (
    <>
      <Heading
        title={data ? data.name || data.url : t.one}
        parent={{ title: t.title, to: '/app/webhooks' }}
        badge={data && <Status {...data} />}
      >
        {data && <EndpointActions endpoint={data} />}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <p class="gap">
            <Text>{data.url}</Text>
          </p>
          <h2 class="gap">{t.deliveries}</h2>
          <DeliveryList endpointId={endpoint_id} />
          {may<'PUT /webhooks/endpoints/{endpoint_id}'>('write') && (
            <Card title={t.settings}>
              <div class="narrow">
                <Form
                  submit={common.save}
                  onSubmit={async (values, idempotencyKey) => {
                    await api.put('/webhooks/endpoints/{endpoint_id}', {
                      params,
                      body: endpointOf(values),
                      idempotencyKey,
                    })
                    forget('webhook')
                    toast(t.saved)
                  }}
                >
                  <EndpointFields endpoint={data} />
                </Form>
              </div>
            </Card>
          )}
        </>
      )}
    </>
  )
}
