// A uPlot chart that fits its place and takes the colours of the page.

import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { colour, coloursChanged } from './theme'

export interface ChartProps {
  label: string
  data: uPlot.AlignedData
  height: number
  options: (colour: (name: string) => string) => Pick<uPlot.Options, 'series' | 'bands' | 'hooks'>
  onPick?: (index: number) => void // a place of the first row of data
}

export function Chart({ label, data, height, options, onPick }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const colours = coloursChanged.value
  useEffect(() => {
    const element = place.current
    if (!element) return
    const axis = {
      stroke: colour('--quiet'),
      grid: { stroke: colour('--edge'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    }
    const chart = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: false } },
        axes: [
          { ...axis, size: 24 },
          { ...axis, size: 46, values: (_, ticks) => ticks.map(short) },
        ],
        ...options(colour),
      },
      data,
      element,
    )
    const pick = () => chart.cursor.idx != null && onPick?.(chart.cursor.idx)
    chart.over.addEventListener('click', pick)
    const size = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    size.observe(element)
    return () => {
      size.disconnect()
      chart.destroy()
    }
  }, [data, height, colours])
  return <div class="chart" role="img" aria-label={label} ref={place} />
}

function short(value: number): string {
  return value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(value)
}
