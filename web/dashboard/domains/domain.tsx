import { forget } from '../../lib/query.ts'
import { DnsRecords } from '../../ui/dns-records.tsx'
import { api } from '../api.ts'
import { Dkim } from './dkim.tsx'
import { DnsHistory } from './dns-history.tsx'
import { Frame } from './frame.tsx'
import { Volume } from './volume.tsx'

export const Domain = () => (
  <Frame>
    {(domain) => (
      <>
        <DnsRecords api={api} domain={domain} onChecked={() => forget('dns-checks')} />
        <Dkim domainId={domain.id} />
        <DnsHistory domainId={domain.id} />
        <Volume domain={domain.domain} />
      </>
    )}
  </Frame>
)
