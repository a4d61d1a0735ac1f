import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { startDnsServer } from './dns-server.ts'

type DnsServer = Awaited<ReturnType<typeof startDnsServer>>

/** A program for ACME_DNS_HOOK that changes the records of a DNS server of this process. */
export async function makeDnsHook(file: string, dns: DnsServer) {
  const calls: { arguments: string[]; environment: string[] }[] = []
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    const call = JSON.parse(Buffer.concat(chunks).toString())
    calls.push(call)
    const [verb, record = '', value = ''] = call.arguments as string[]
    const zone = dns.state.records[record] ?? {}
    dns.state.records[record] = zone
    zone.TXT = (zone.TXT ?? []).filter((one) => one !== value)
    if (verb === 'add') zone.TXT.push(value)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeFileSync(
    file,
    `#!${process.execPath}
const call = { arguments: process.argv.slice(2), environment: Object.keys(process.env) }
fetch('http://127.0.0.1:${port}/', { method: 'POST', body: JSON.stringify(call) })
`,
  )
  chmodSync(file, 0o755)
  return { calls, stop: () => new Promise((resolve) => server.close(resolve)) }
}
