! SPDX-License-Identifier: GPL-3.0-or-later
! Fortran: subroutines and functions by name, an array's size as input.
! The array's length comes by reference: one cell more than the array has.
module vectors
contains
  integer function total(v, n)
    integer, intent(in) :: n
    integer, intent(in) :: v(n)
    integer :: i
    total = 0
    do i = 1, n
      total = total + v(i)
    end do
  end function total
end module vectors

program main
  use vectors
  integer :: v(100), i
  do i = 1, 100
    v(i) = i
  end do
  print *, total(v, 100), total(v, 10), total(v, 10)
end program main
