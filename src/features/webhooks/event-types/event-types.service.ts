import { eventCatalogue } from '../../../events/events.ts'
import { exampleData } from '../../../events/example.ts'

/** Every event in the catalogue, with the schema of its data and whether Mailplane emits it. */
export const listEventTypes = () => {
  const items = eventCatalogue().map(({ name, source, summary, data, producer }) => ({
    name,
    source,
    summary,
    has_producer: producer === 'this',
    reserved: producer === 'reserved',
    example: exampleData(data),
    data_schema: data as unknown as Record<string, unknown>,
  }))
  return { items, total: items.length }
}
