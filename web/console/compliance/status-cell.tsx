import { Badge, Text, type Tone } from '../../ui/page.tsx'

/** The status of an export or an erasure, with the error of the last attempt. */
export const StatusCell = ({
  tone,
  status,
  error,
}: {
  tone: Tone
  status: string
  error: string | null
}) => (
  <>
    <Badge tone={tone}>{status}</Badge>
    {error && (
      <div class="wrong" lang="en">
        <Text>{error}</Text>
      </div>
    )}
  </>
)
