// Runs the calls on a kernel with one fault, until one shows it. Status 0 if one does. Argument:
// how many schedules each call runs under.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "tests/simt/kernel_calls.h"

namespace {

bool shows_fault(int num_schedules) {
  using namespace flashcheck::testing;
  for (const int schedules : {1, num_schedules}) {  // most faults show at once
    for (const KernelCall& call : kernel_calls()) {
      if (const auto fault = fault_of(call, schedules)) {
        std::cout << *fault << std::endl;
        return true;
      }
    }
  }
  std::cout << "no call shows a fault" << std::endl;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  // A fault may also end the process that has it.
  const pid_t child = fork();
  if (child == 0) _exit(shows_fault(argc > 1 ? std::atoi(argv[1]) : 1) ? 0 : 1);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 2;
  if (WIFSIGNALED(status)) std::cout << "ended by signal " << WTERMSIG(status) << std::endl;
  return WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
}
