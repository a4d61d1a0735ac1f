import { documentedFeatures } from '../daemons/documented-features.ts'
import { openApiDocument } from '../openapi/document.ts'
import { describeRoutes } from '../openapi/generate.ts'

export async function openapiCommand(): Promise<void> {
  const document = openApiDocument(await describeRoutes(await documentedFeatures()))
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
}
