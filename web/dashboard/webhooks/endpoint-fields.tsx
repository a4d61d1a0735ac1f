import type { WebhookEndpoint } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { Field, TextArea } from '../../ui/field.tsx'
import type { Values } from '../../ui/form.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

export const useEventTypes = () =>
  useQuery('webhook event types', () => api.get('/webhooks/event-types')).data?.items ?? []

/** The fields that an endpoint has when it is added and when it is changed. */
export function EndpointFields({ endpoint }: { endpoint?: WebhookEndpoint }) {
  const types = useEventTypes()
  return (
    <>
      <Field label={t.name} name="name" value={endpoint?.name ?? ''} autocomplete="off" required />
      <Field
        label={t.url}
        name="url"
        type="url"
        value={endpoint?.url ?? ''}
        hint={t.urlHint}
        placeholder="https://shop.example/events"
        autocomplete="off"
        required
      />
      <TextArea
        label={t.events}
        name="event_types"
        rows={4}
        value={endpoint?.event_types.join('\n') ?? ''}
        hint={t.eventsHint}
      />
      <details>
        <summary>{t.eventList}</summary>
        <ul>
          {types
            .filter(({ reserved }) => !reserved)
            .map(({ name, summary }) => (
              <li key={name}>
                <code>{name}</code> <span lang="en">{summary}</span>
              </li>
            ))}
        </ul>
      </details>
    </>
  )
}

export function endpointOf(values: Values) {
  const event_types = values
    .text('event_types')
    .split(/[\s,]+/)
    .filter(Boolean)
  return {
    name: values.text('name'),
    url: values.text('url'),
    event_types: event_types.length > 0 ? event_types : null,
  }
}
