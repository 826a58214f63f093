! SPDX-License-Identifier: GPL-3.0-or-later
! Fortran: a moving mean over a tenth of the series, added up anew for every
! element: n^2. The same with a running sum: linear. The product of a k by k
! matrix with itself: n^1.5, as k^3 steps read k^2 cells.
module smoothing
contains
  subroutine smooth_slowly(out, v, n)
    integer, intent(in) :: n
    integer, intent(in) :: v(n)
    integer, intent(out) :: out(n)
    integer :: i, j, s
    do i = 1, n
      s = 0
      do j = max(1, i - n / 10), i
        s = s + v(j)
      end do
      out(i) = s
    end do
  end subroutine smooth_slowly

  subroutine smooth(out, v, n)
    integer, intent(in) :: n
    integer, intent(in) :: v(n)
    integer, intent(out) :: out(n)
    integer :: i, s
    s = 0
    do i = 1, n
      s = s + v(i)
      if (i - n / 10 > 1) s = s - v(i - n / 10 - 1)
      out(i) = s
    end do
  end subroutine smooth

  subroutine square(out, v, k)
    integer, intent(in) :: k
    integer, intent(in) :: v(k, k)
    integer, intent(out) :: out(k, k)
    integer :: i, j, m, s
    do j = 1, k
      do i = 1, k
        s = 0
        do m = 1, k
          s = s + v(i, m) * v(m, j)
        end do
        out(i, j) = s
      end do
    end do
  end subroutine square
end module smoothing

program main
  use smoothing
  integer, parameter :: most = 4096, widest = 64
  integer :: v(most), slow(most), fast(most), n, k, i, same
  same = 0
  do i = 1, most
    v(i) = mod(i * 7919, 1009)
  end do
  n = 8
  do while (n <= most)
    call smooth_slowly(slow, v, n)
    call smooth(fast, v, n)
    if (all(slow(1:n) == fast(1:n))) same = same + 1
    n = n + n / 8 + 1
  end do
  k = 3
  do while (k <= widest)
    call square(slow, v, k)
    same = same + mod(slow(k * k), 2)
    k = k + k / 8 + 1
  end do
  print *, same
end program main
