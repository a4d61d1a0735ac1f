import { eventCatalogue } from '../../../events/events.ts'
import { exampleOf } from '../../../openapi/example.ts'

/** The events that something in this installation emits, with the shape of their data. */
export const listEventTypes = () => {
  const items = eventCatalogue().map(({ name, source, summary, data }) => ({
    name,
    source,
    summary,
    has_producer: true,
    example: exampleOf(data) as Record<string, unknown>,
    data_schema: data as unknown as Record<string, unknown>,
  }))
  return { items, total: items.length }
}
